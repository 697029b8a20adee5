"""Rust answers judged as cargo would, many to a crate. See `strop_verify.verification.rust.toolchain` for the threat
model.
"""

from strop_verify.verification.rust.toolchain import RustToolchain

__all__ = ["RustToolchain"]
