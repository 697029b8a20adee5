"""Judges Rust answers as cargo would, many per crate. `verification.rust.toolchain` has the threat model."""

from strop_verify.verification.rust.toolchain import RustToolchain

__all__ = ["RustToolchain"]
