"""Rust answers judged as cargo would, many to a crate. See `strop.verification.rust.toolchain` for the threat model."""

from strop.verification.rust.toolchain import RustToolchain

__all__ = ["RustToolchain"]
