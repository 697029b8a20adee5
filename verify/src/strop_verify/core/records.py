"""The base class of every record: frozen, without unknown keys, one JSON line each."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Frozen data that travels between folders and is written to the run folder as one JSON line."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")
