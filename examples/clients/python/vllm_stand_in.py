"""Stands in for vLLM where that is not installed: the names that penstock_vllm.py imports, of an earlier or a later
release, and a region in shared memory as vLLM's primary tier has it."""

import abc
import dataclasses
import enum
import mmap
import os
import sys
import types

PACKAGES = ("vllm", "vllm.v1", "vllm.v1.kv_offload", "vllm.v1.kv_offload.base", "vllm.v1.kv_offload.tiering",
            "vllm.v1.kv_offload.tiering.base")
LATER = ("lookup", "submit_store", "submit_load", "get_finished_jobs", "on_new_request", "drain_jobs",
         "has_pending_work")
EARLIER = ("lookup", "submit_store", "submit_load", "get_finished", "get_tier_type")


class LookupResult(enum.Enum):
    MISS, HIT, HIT_PENDING, RETRY = range(4)


class Medium(enum.Enum):
    CPU, STORAGE = "CPU", "STORAGE"


@dataclasses.dataclass
class RequestOffloadingContext:
    policy: str = "chunk_level"


@dataclasses.dataclass
class JobResult:
    job_id: int
    success: bool
    successful_keys: tuple = None
    transfer_time: float = None


@dataclasses.dataclass
class EarlierJobResult:
    job_id: int
    success: bool


@dataclasses.dataclass
class Job:
    job_id: int
    keys: list
    block_ids: list
    is_promotion: bool
    req_context: object = None


def install(is_later):
    """Makes the modules, before penstock_vllm is imported."""
    for name in PACKAGES:
        sys.modules[name] = types.ModuleType(name)

    class SecondaryTierManager(abc.ABC):
        if is_later:
            def __init__(self, offloading_spec, primary_kv_view, tier_type):
                self.offloading_spec, self.primary_kv_view, self.tier_type = offloading_spec, primary_kv_view, tier_type
        else:
            def __init__(self, vllm_config, primary_kv_view):
                self.vllm_config, self.primary_kv_view = vllm_config, primary_kv_view

    methods = {name: abc.abstractmethod(lambda self, *_: None) for name in (LATER if is_later else EARLIER)}
    base, tiering = sys.modules[PACKAGES[3]], sys.modules[PACKAGES[5]]
    tiering.SecondaryTierManager = abc.ABCMeta("SecondaryTierManager", (SecondaryTierManager,), methods)
    tiering.JobResult = JobResult if is_later else EarlierJobResult
    if is_later:
        base.LookupResult, base.Medium, base.RequestOffloadingContext = LookupResult, Medium, RequestOffloadingContext


class Region:
    """Slots in /dev/shm, as vLLM makes them: a file of one user, and a view of rows."""

    def __init__(self, name, slots, stride):
        self.path, self.slots, self.stride = f"/dev/shm/vllm_offload_{name}.mmap", slots, stride
        number = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        try:
            os.ftruncate(number, slots * stride)
            self.bytes = mmap.mmap(number, slots * stride)
        except BaseException:
            os.unlink(self.path)
            raise
        finally:
            os.close(number)
        self.view = memoryview(self.bytes).cast("b", (slots, stride))

    def read(self, slot):
        return self.bytes[slot * self.stride:(slot + 1) * self.stride]

    def write(self, slot, data):
        self.bytes[slot * self.stride:(slot + 1) * self.stride] = data

    def close(self):
        self.view.release()
        self.bytes.close()
        os.unlink(self.path)
