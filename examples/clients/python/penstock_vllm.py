"""Penstock as a secondary tier of vLLM's tiered KV offloading, beside penstock.py; README.md says how to configure it.

The scheduler's calls only touch dictionaries. One thread speaks with the node over one Unix domain socket: it asks for
all keys of a step at once, and sends jobs as lists of keys and slots. The node maps vLLM's own region, and copies
between it and its blocks. A job is reported once: as done when every block is stored, or lies verified in its slot; as
failed only when the node touches none of its slots any more, which the lock of the region's file tells.
"""

from __future__ import annotations

import base64
import collections
import ctypes
import dataclasses
import fcntl
import hashlib
import inspect
import json
import logging
import os
import select
import socket
import struct
import threading
import time
from typing import Any, Iterable

import penstock

try:
    from vllm.v1.kv_offload.tiering.base import JobResult, SecondaryTierManager
except ImportError:  # a stand-in of vLLM has the same methods

    class SecondaryTierManager:
        pass

    @dataclasses.dataclass
    class JobResult:
        job_id: int
        success: bool


try:
    from vllm.v1.kv_offload.base import LookupResult

    MISS, HIT, RETRY = LookupResult.MISS, LookupResult.HIT, LookupResult.RETRY
except ImportError:  # releases before LookupResult
    MISS, HIT, RETRY = False, True, None

try:
    from vllm.v1.kv_offload.base import RequestOffloadingContext
except ImportError:
    RequestOffloadingContext = None

try:
    from vllm.v1.kv_offload.base import Medium

    MEDIUM = Medium.STORAGE
except ImportError:
    MEDIUM = None

LOG = logging.getLogger("penstock.vllm")
REQUEST_KEYS = 4096  # keys of one request
LOADS = 32  # requests at the node
ANSWERS = 1 << 16  # keys of which an answer is kept
ANSWER_SECONDS = 1.0  # how long an answer is believed after it was given once
MISS_SECONDS = 60.0  # how long a block that could not be loaded is a miss, unless it is stored again
GRACE_SECONDS = 5.0  # what an answer may be late before the connection is given up
RETRY_SECONDS = 0.5  # between attempts to connect
# What makes equal keys mean equal bytes, as far as vLLM's configuration tells
FACTS = ("model_config.model", "model_config.revision", "model_config.dtype", "model_config.quantization",
         "cache_config.cache_dtype", "cache_config.block_size", "parallel_config.tensor_parallel_size",
         "parallel_config.pipeline_parallel_size", "parallel_config.prefill_context_parallel_size",
         "parallel_config.decode_context_parallel_size", "blocks_per_chunk", "offloaded_block_size")


def _fact(source: Any, path: str) -> Any:
    for name in path.split("."):
        source = getattr(source, name, None)
    return source


def _facts(*sources: Any) -> list[str]:
    found = []
    for path in FACTS:
        values = [value for value in (_fact(source, path) for source in sources) if value is not None]
        found += [f"{path}={values[0]}"] if values else []
    return found


def _mapping(view: memoryview) -> tuple[str, int, int]:
    """The file that is mapped where `view` lies, the offset of its first byte in the file, and the file's inode."""
    address = ctypes.addressof(ctypes.c_char.from_buffer(view))
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            fields = line.rstrip("\n").split(None, 5)
            start, end = (int(one, 16) for one in fields[0].split("-"))
            if start <= address < end:
                path = fields[5] if len(fields) > 5 else ""
                return path, address - start + int(fields[2], 16), int(fields[4])
    raise ValueError("primary_kv_view must lie in a mapping of this process")


@dataclasses.dataclass
class _Job:
    """A job of the scheduler, until it is reported."""

    number: int
    is_store: bool
    keys: list[bytes]
    slots: list[int]
    session: dict[str, Any] | None
    deadline: float
    waits: int = 0  # requests whose answers have not come
    done: set[int] = dataclasses.field(default_factory=set)  # positions


@dataclasses.dataclass
class _Request:
    """A request at the node: of a job from a position on, or for keys."""

    give_up: float
    job: _Job | None
    first: int
    keys: list[bytes]


class PenstockTier(SecondaryTierManager):
    """See the module. Every call returns at once, but drain_jobs and shutdown, which wait for jobs."""

    medium = MEDIUM

    def __init__(self, primary_kv_view: memoryview, address: str, offloading_spec: Any = None, vllm_config: Any = None,
                 tier_type: str = "PenstockTier", tier_name: str | None = None, fingerprint: str = "",
                 region: str | None = None, user: str | None = None, password: str = "", token: str | None = None,
                 store_seconds: float = 0.4, load_seconds: float = 10.0, lookup_seconds: float = 1.0,
                 fence_seconds: float = 30.0, stores: int = 8) -> None:
        """`address` is unix:PATH of the node's listen.socket. `fingerprint` names weights, layout and engine, beside
        what vLLM's configuration tells. `region` is where the node finds the file behind `primary_kv_view`, if that is
        another place. A store that does not end in `store_seconds` is dropped; a lookup that does not end in
        `lookup_seconds` is a miss. `stores` bounds the requests to store that the node has at once."""
        given = {"offloading_spec": offloading_spec, "vllm_config": vllm_config, "primary_kv_view": primary_kv_view,
                 "tier_type": tier_type, "tier_name": tier_name or tier_type}
        wanted = inspect.signature(SecondaryTierManager.__init__).parameters
        super().__init__(**{name: value for name, value in given.items() if name in wanted})
        self.tier_type = tier_type
        self._slots, self._stride = primary_kv_view.shape[0], primary_kv_view.strides[0]
        path, offset, inode = _mapping(primary_kv_view)
        if offset or path.endswith(" (deleted)") or not path.startswith("/"):
            raise ValueError(f"primary_kv_view must begin where a file in shared memory does (was {path} at {offset})")
        self._region = region or path
        facts = _facts(offloading_spec, vllm_config, getattr(offloading_spec, "vllm_config", None),
                       getattr(offloading_spec, "config", None))
        if not fingerprint and not any(one.startswith("model_config.model=") for one in facts):
            raise ValueError("fingerprint must be given: the configuration does not tell the model")
        self.fingerprint = ";".join([fingerprint, *facts, f"stride={self._stride}"])
        text = self.fingerprint.encode()
        self._prefix = b"penstock.vllm.v1" + struct.pack("<i", len(text)) + text
        self._address, self._credentials = address, {"user": user, "password": password, "token": token}
        self._store_seconds, self._load_seconds, self._lookup_seconds = store_seconds, load_seconds, lookup_seconds
        self._fence_seconds, self._most_stores = fence_seconds, stores
        self.connection: penstock.Node | None = None  # the last one
        self._file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self._same = {"device": os.fstat(self._file).st_dev, "inode": inode}  # another file may get the name
        self._change = threading.Condition()  # guards all below
        self._up = self._ending = self._waited = False
        self._problem = ""
        self._loads: collections.deque[_Job] = collections.deque()
        self._stores: collections.deque[_Job] = collections.deque()
        self._open: dict[int, _Job] = {}  # submitted, not ended
        self._finished: list[JobResult] = []
        self._asked: dict[bytes, float] = {}  # keys without an answer, and when they were asked
        self._unasked: list[bytes] = []
        self._answers: collections.OrderedDict[bytes, tuple[bool, float | None]] = collections.OrderedDict()
        self._misses: collections.OrderedDict[bytes, float] = collections.OrderedDict()
        self._ear, self._mouth = socket.socketpair()
        self._ear.setblocking(False)
        self._mouth.setblocking(False)
        self._thread = threading.Thread(target=self._run, name="penstock-vllm", daemon=True)
        self._thread.start()

    # --- the scheduler's calls

    def lookup(self, key: bytes, req_context: Any = None) -> Any:
        """MISS, HIT, or RETRY while the node is asked."""
        key, now = bytes(key), time.monotonic()
        with self._change:
            if self._misses.get(key, 0.0) > now:
                return MISS
            hit, until = self._answers.get(key, (False, 0.0))
            if until is None or until > now:
                if until is None:
                    self._answers[key] = (hit, now + ANSWER_SECONDS)
                return HIT if hit else MISS
            if not self._up:
                return MISS
            asked = self._asked.get(key)
            if asked is None:
                self._asked[key] = now
                self._unasked.append(key)
                self._wake()
            elif now - asked > self._lookup_seconds:
                return MISS
            return RETRY

    def submit_store(self, job_metadata: Any) -> None:
        self._submit(job_metadata, True)

    def submit_load(self, job_metadata: Any) -> None:
        self._submit(job_metadata, False)

    def _submit(self, given: Any, is_store: bool) -> None:
        seconds = self._store_seconds if is_store else self._load_seconds
        job = _Job(given.job_id, is_store, [bytes(key) for key in given.keys], [int(slot) for slot in given.block_ids],
                   _session(getattr(given, "req_context", None)), time.monotonic() + seconds)
        if len(job.keys) != len(job.slots) or not all(0 <= slot < self._slots for slot in job.slots):
            raise ValueError(f"block_ids must be {len(job.keys)}, one a key, below {self._slots} (were {job.slots})")
        with self._change:
            self._open[job.number] = job
            if not self._up or self._ending or not job.keys:
                self._end(job)
            else:
                (self._stores if is_store else self._loads).append(job)
                self._wake()

    def get_finished_jobs(self) -> Iterable[JobResult]:
        with self._change:
            finished, self._finished = self._finished, []
        return finished

    def has_pending_work(self) -> bool:
        with self._change:
            return bool(self._open or self._finished)

    def touch(self, keys: Iterable[bytes], req_context: Any = None) -> None:
        """A load is a use; the node's policy needs no other sign."""

    def on_new_request(self, req_context: Any) -> Any:
        return RequestOffloadingContext() if RequestOffloadingContext else None

    def on_request_finished(self, req_context: Any) -> None:
        """Nothing is kept for a request."""

    def drain_jobs(self) -> None:
        """Waits until every job has ended, however long that takes: until then the node may write to its slots.
        get_finished_jobs then reports them."""
        with self._change:
            self._waited = True
            self._change.wait_for(lambda: not self._open)
            self._waited = False

    def shutdown(self) -> None:
        """Takes no more jobs, waits for those that run, and ends the connection. Idempotent."""
        with self._change:
            self._ending = True
            self._wake()
        self.drain_jobs()
        self._thread.join()
        with self._change:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1
                self._ear.close()
                self._mouth.close()

    # names of earlier releases
    get_finished, request_finished, get_request_offloading_context = (
        get_finished_jobs, on_request_finished, on_new_request)

    @staticmethod
    def get_tier_type() -> str:
        return "PenstockTier"

    # --- what both sides use, under the lock

    def _wake(self) -> None:
        try:
            self._mouth.send(b"\0")
        except OSError:  # it is full, so the thread wakes anyway; or closed
            pass

    def _end(self, job: _Job) -> None:
        """Reports a job: done if all its blocks are."""
        if self._open.pop(job.number, None) is None:
            return
        success = len(job.done) == len(job.keys)
        more = {}
        if not success and job.done and "successful_keys" in getattr(JobResult, "__dataclass_fields__", ()):
            more = {"successful_keys": tuple(job.keys[i] for i in sorted(job.done))}
        for i, key in enumerate(job.keys):
            self._answers.pop(key, None)
            if job.is_store and i in job.done:
                self._misses.pop(key, None)
            elif not job.is_store and i not in job.done:
                self._misses[key] = time.monotonic() + MISS_SECONDS
        while len(self._misses) > ANSWERS:
            self._misses.popitem(last=False)
        self._finished.append(JobResult(job_id=job.number, success=success, **more))
        self._change.notify_all()

    # --- the thread

    def _hash(self, key: bytes) -> bytes:
        return hashlib.sha256(self._prefix + key).digest()[:16]

    def _run(self) -> None:
        while not self._is_over():
            node, sent = None, {}
            try:
                node = penstock.Node.at(self._address, timeout=self._load_seconds + GRACE_SECONDS, **self._credentials)
                if node.space.block_bytes != self._stride:
                    node.close()
                    node = penstock.Node.at(self._address, space=_space(self._stride),
                                            timeout=self._load_seconds + GRACE_SECONDS, **self._credentials)
                self.connection = node
                region = node.region(self._region, self._slots * self._stride, self._stride, **self._same)
                with self._change:
                    self._up, self._problem = True, ""
                self._serve(node, region, sent)
            except Exception as error:  # whatever it is, jobs end as failed, and lookups as misses
                self._tell(error)
            finally:
                if node is not None:
                    node.close()
                was_up = self._down(sent)
            if not was_up and not self._is_over():
                select.select([self._ear], [], [], RETRY_SECONDS)
                self._hear()

    def _is_over(self) -> bool:
        with self._change:
            return self._ending and not self._open

    def _tell(self, error: Exception) -> None:
        with self._change:
            is_new, self._problem = self._problem != str(error), str(error)
        if is_new:
            LOG.warning("node %s: %s; blocks are misses until it is back", self._address, error)

    def _down(self, sent: dict[int, _Request]) -> bool:
        """The connection is gone: what was not sent has failed at once, the rest when the node has let go. Answers
        whether there was one."""
        with self._change:
            was_up, self._up = self._up, False
            for job in [*self._loads, *self._stores]:
                if job.waits == 0:
                    self._end(job)
            self._loads.clear()
            self._stores.clear()
            self._asked.clear()
            self._unasked.clear()
            self._answers.clear()
        if any(request.job for request in sent.values()):
            self._fence()
        with self._change:
            for job in list(self._open.values()):
                if job.waits:
                    self._end(job)
        return was_up

    def _fence(self) -> None:
        """Waits until the node holds the region no more: until then it may read and write slots. Only shutdown, after
        which there are no slots, gives up."""
        began, is_told, pause = time.monotonic(), False, 0.002
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                fcntl.flock(self._file, fcntl.LOCK_UN)
                return
            except OSError:
                with self._change:
                    waited, ending = self._waited, self._ending
                if (waited or ending) and time.monotonic() - began > self._fence_seconds:
                    if not is_told:
                        LOG.error("node %s keeps %s without a connection: is it stopped?", self._address, self._region)
                    is_told = True
                    if ending:
                        return
                time.sleep(pause)
                pause = min(1.2 * pause, 0.1)

    def _serve(self, node: penstock.Node, region: int, sent: dict[int, _Request]) -> None:
        while not self._is_over():
            self._send(node, region, sent)
            now = time.monotonic()
            soonest = min((request.give_up for request in sent.values()), default=now + 1)
            if soonest < now:
                raise TimeoutError(f"the node must answer in time (was {GRACE_SECONDS} s late)")
            ready, _, _ = select.select([node, self._ear], [], [], 0 if node.has_frame() else min(1, soonest - now))
            if self._ear in ready:
                self._hear()
            if node in ready or node.has_frame():
                self._receive(node, sent)
                while node.has_frame():
                    self._receive(node, sent)

    def _hear(self) -> None:
        try:
            while self._ear.recv(4096):
                pass
        except BlockingIOError:
            pass

    def _send(self, node: penstock.Node, region: int, sent: dict[int, _Request]) -> None:
        now, most = time.monotonic(), min(REQUEST_KEYS, node.welcome["maxKeys"])
        running = collections.Counter(request.job.is_store for request in sent.values() if request.job)
        with self._change:
            keys, self._unasked = self._unasked, []
            jobs = [self._loads.popleft() for _ in range(min(len(self._loads), LOADS - running[False]))]
            while self._stores and running[True] < self._most_stores:
                job = self._stores.popleft()
                if job.deadline <= now:
                    self._end(job)  # nothing of it was sent
                else:
                    running[True] += 1
                    jobs.append(job)
            for job in jobs:
                job.waits = (len(job.keys) + most - 1) // most
        for first in range(0, len(keys), most):
            part = keys[first:first + most]
            stream = node.begin("exists", {"keys": node.keys([self._hash(key) for key in part])})
            sent[stream] = _Request(now + GRACE_SECONDS, None, 0, part)
        for job in jobs:
            for first in range(0, len(job.keys), most):
                part = job.keys[first:first + most]
                message = node.slots(region, [self._hash(key) for key in part], job.slots[first:first + most],
                                     max(1, int(1000 * (job.deadline - now))), job.session)
                request = _Request(job.deadline + GRACE_SECONDS, job, first, part)
                sent[-1] = request  # what fails on its way may have been heard
                stream = node.begin("store" if job.is_store else "load", message)
                sent[stream] = sent.pop(-1)

    def _receive(self, node: penstock.Node, sent: dict[int, _Request]) -> None:
        stream, kind, flags, body = node.receive()
        if stream == 0 and kind == penstock.ERROR:
            raise penstock.PenstockError(body)
        request = sent.get(stream)
        if request is None or kind not in (penstock.PAYLOAD, penstock.ERROR):
            return
        reply = None
        if kind == penstock.ERROR:
            self._tell(penstock.PenstockError(body))
        else:
            reply = json.loads(body[3 + int.from_bytes(body[:3], "big"):] if flags & penstock.METADATA else body)
        with self._change:
            if request.job is None:
                self._answered(request, reply)
            else:
                for i, code in enumerate(penstock.Node.outcomes(reply) if reply else []):
                    if code == 0:
                        request.job.done.add(request.first + i)
                request.job.waits -= 1
                if request.job.waits == 0:
                    self._end(request.job)
        del sent[stream]

    def _answered(self, request: _Request, reply: dict[str, Any] | None) -> None:
        bits = base64.b64decode(reply["bits"]) if reply else b""
        for i, key in enumerate(request.keys):
            self._asked.pop(key, None)
            self._answers[key] = (bool(i >> 3 < len(bits) and bits[i >> 3] >> (i & 7) & 1), None)
            self._answers.move_to_end(key)
        while len(self._answers) > ANSWERS:
            self._answers.popitem(last=False)


def _space(stride: int) -> penstock.Space:
    """The space of slots of a region, which a node with spaces.open opens."""
    width = next(each for each in (4096, 64, 1) if stride % each == 0)
    return penstock.Space("vllm", 1, stride // width, [("VALUE", "INT8", 1, width)])


def _session(req_context: Any) -> dict[str, Any] | None:
    """The session that a request names in kv_transfer_params, as {"session": text} and, if it likes, "priority"."""
    params = getattr(req_context, "kv_transfer_params", None) or {}
    name = str(params.get("session") or "").encode()[:64]
    return {"id": base64.b64encode(name).decode(), "priority": params.get("priority")} if name else None


if __name__ == "__main__":
    print("This module is a secondary tier that vLLM imports; it is no program. README.md says how to configure it.")
