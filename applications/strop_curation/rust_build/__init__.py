"""`strop build rust`: prompts that were written for Python to verified Rust tasks, by any OpenAI-compatible model.

`build.build` is the door; docs/build.md says what the folder of a build holds.
"""

from strop_curation.rust_build.build import BuildProgress, Report, build, estimate
from strop_curation.rust_build.settings import PARTS, RustBuildSettings

__all__ = ["PARTS", "BuildProgress", "Report", "RustBuildSettings", "build", "estimate"]
