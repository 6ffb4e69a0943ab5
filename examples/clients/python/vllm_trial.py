"""A scheduler like vLLM's drives the tier against a node that is killed, cut off, frozen, damaged and full.

The trial starts the node with COMMAND, and kills it at its end. It adds --listen-socket and --regions-folder to the
command. Blocks of the node must be as long as --stride says.

What must hold, or the trial ends with 1: each job is reported once; a load that succeeded has in each slot what was
stored under its key; blocks of one that failed are misses at once; a slot that was given back is written by the node
no more; no call of the scheduler waits. It ends with 2 if the node does not start or does not fit."""

import argparse
import collections
import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import penstock
import vllm_stand_in

EXAMPLE = """example:
  python3 vllm_trial.py --jobs 1000 --kills 2 --stride 8192 -- ../../../penstock serve --model vllm --layers 1 \\
      --block-bytes 8KiB --dram 12MiB --listen-port 0 --admin-port off"""
SLOTS = 256
MOST_JOBS = 24  # at once
SLOWEST_CALL = 2.0  # seconds; a machine under load stops a thread for long
START_SECONDS = 200  # a node that does not listen by then has not started; it may have to be built
TIER_SECONDS = 60  # a tier that has not stored a block by then cannot


class StartError(Exception):
    """The node does not start, or is none for this trial."""


class NodeProcess:
    def __init__(self, command, path):
        self.command = [*command, "--listen-socket", path, "--regions-folder", "/dev/shm"]
        self.path = path
        self.process = None

    def start(self):
        try:
            self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        except OSError as error:
            raise StartError(f"COMMAND must be a program (was {self.command[0]}: {error.strerror})") from error

    def connected(self, **options):
        """A connection of the trial's own, once the node answers."""
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                return penstock.Node.at("unix:" + self.path, **options)
            except OSError as error:
                if self.process.poll() is not None:
                    raise StartError("COMMAND must run a node until the trial ends it (ended with "
                                     f"{self.process.returncode}: {' '.join(self.command)})") from error
                if time.monotonic() > end:
                    raise StartError(f"node must listen at {self.path} within {START_SECONDS} s ({error})") from error
                time.sleep(0.05)

    def check(self, region):
        """Refuses a node that the tier cannot use: its blocks have another length, or it does not map the region."""
        stride = region.stride
        try:
            with self.connected() as node:
                space = node.space
                if space.block_bytes == stride:
                    node.region(region.path, len(region.bytes), stride)
                    return
            try:  # a node with spaces.open opens the space of the tier
                with self.connected(space=penstock_vllm._space(stride)) as node:
                    node.region(region.path, len(region.bytes), stride)
            except penstock.PenstockError as error:
                raise StartError(
                    f"blocks of the node must have {stride} bytes, as --stride says (were {space.block_bytes}, of "
                    f"model {space.model}): give COMMAND --model vllm --layers 1 --block-bytes {stride}B, or the "
                    f"trial --stride {space.block_bytes}") from error
        except penstock.PenstockError as error:
            raise StartError(f"node must map slots of this trial ({error})") from error

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    def flip(self, pattern):
        """Flips a bit of the bytes wherever the node has them in its memory. Answers how often it found them."""
        found = 0
        with open(f"/proc/{self.process.pid}/maps", encoding="utf-8") as maps, \
                open(f"/proc/{self.process.pid}/mem", "r+b", buffering=0) as memory:
            for line in maps:
                place, rights, _, _, number, *_ = line.split()
                start, end = (int(each, 16) for each in place.split("-"))
                if not rights.startswith("rw") or number != "0":
                    continue
                for at in range(start, end, 1 << 24):
                    try:
                        memory.seek(at)
                        data = memory.read(min(1 << 24, end - at))
                    except OSError:
                        continue
                    where = data.find(pattern)
                    if where >= 0:
                        memory.seek(at + where)
                        memory.write(bytes([pattern[0] ^ 1]))
                        found += 1
        return found


class Trial:
    def __init__(self, options, folder):
        self.random = random.Random(options.seed)
        self.options = options
        self.node = NodeProcess(options.command, os.path.join(folder, "node.sock"))
        self.region = vllm_stand_in.Region(f"trial_{os.getpid()}", SLOTS, options.stride)
        self.canary = b"\xa5" * options.stride
        for slot in range(SLOTS):
            self.region.write(slot, self.canary)
        self.free, self.keys = list(range(SLOTS)), [i.to_bytes(36, "big") for i in range(options.keys)]
        self.jobs, self.number = {}, 0
        self.wanted = collections.OrderedDict()  # keys that are looked up, since when
        self.count, self.problems, self.slow, self.latest = collections.Counter(), [], 0.0, []
        self.down, self.starting, self.failures = False, None, 0
        self.faults = self._plan()
        self.tier = None

    def start(self):
        self.node.start()
        self.node.check(self.region)
        self.tier = penstock_vllm.PenstockTier(
            primary_kv_view=self.region.view, address="unix:" + self.node.path, fingerprint="trial")

    def _plan(self):
        kinds = (["kill"] * self.options.kills + ["freeze"] * self.options.freezes + ["damage"] * self.options.damages
                 + ["full"] * self.options.fulls + ["cut"] * self.options.cuts)
        self.random.shuffle(kinds)
        step = self.options.jobs / (len(kinds) + 1)
        return collections.deque((int((i + 1) * step), kind) for i, kind in enumerate(kinds))

    def content(self, key):
        return random.Random(key).randbytes(self.options.stride)

    def problem(self, text):
        self.problems.append(text)

    def called(self, function, *arguments):
        began = time.perf_counter()
        answer = function(*arguments)
        self.slow = max(self.slow, time.perf_counter() - began)
        return answer

    def submit(self, keys, slots, is_load):
        job = vllm_stand_in.Job(self.number, keys, slots, is_load)
        self.number += 1
        self.jobs[job.job_id] = (job, time.monotonic())
        self.called(self.tier.submit_load if is_load else self.tier.submit_store, job)

    def take(self, count):
        slots = [self.free.pop(self.random.randrange(len(self.free))) for _ in range(count)]
        for slot in slots:
            if self.region.read(slot) != self.canary:
                self.problem(f"slot {slot} was written after it was given back")
                self.region.write(slot, self.canary)
        return slots

    def finished(self, results):
        for result in results:
            job, since = self.jobs.pop(result.job_id, (None, 0))
            if job is None:
                self.problem(f"job {result.job_id} was reported twice, or is none")
                continue
            kind = "load" if job.is_promotion else "store"
            self.count[f"{kind} {'done' if result.success else 'failed'}"] += 1
            self.failures = 0 if result.success else self.failures + 1
            if not job.is_promotion:
                self.latest.append(time.monotonic() - since)
            right = [self.region.read(slot) == self.content(key) for key, slot in zip(job.keys, job.block_ids)]
            if not all(right) and (result.success or not job.is_promotion):
                self.problem(f"{kind} {result.job_id}: slots must have what was stored ({right})")
            if job.is_promotion and not result.success:
                self.failed(result, job, right)
            for slot in job.block_ids:
                self.region.write(slot, self.canary)
            self.free += job.block_ids

    def failed(self, result, job, right):
        good = set(getattr(result, "successful_keys", None) or ())  # not of an earlier release
        if not all(is_right for key, is_right in zip(job.keys, right) if key in good):
            self.problem(f"load {result.job_id}: a slot that counts as loaded is wrong")
        misses = [self.is_miss(key) for key in job.keys if key not in good]
        if not (all(misses) if hasattr(result, "successful_keys") else any(misses)):
            self.problem(f"load {result.job_id}: a block that was not loaded must be a miss")

    def is_miss(self, key):
        is_stored_meanwhile = any(key in job.keys and not job.is_promotion for job, _ in self.jobs.values())
        return is_stored_meanwhile or self.look(key) == "MISS"

    def look(self, key):
        found = self.called(self.tier.lookup, key, None)
        return {True: "HIT", False: "MISS", None: "RETRY"}.get(found) if not hasattr(found, "name") else found.name

    def step(self):
        self.finished(self.called(self.tier.get_finished_jobs))
        while self.wanted and len(self.jobs) < MOST_JOBS and len(self.free) > 16:
            hits = []
            for key, since in list(self.wanted.items())[:16]:
                found = self.look(key)
                if found == "RETRY" and time.monotonic() - since > 30:
                    self.problem("a lookup must end")
                if found != "RETRY" or time.monotonic() - since > 30:
                    del self.wanted[key]
                    self.count[f"lookup {found.lower()}"] += 1
                if found == "HIT":
                    hits.append(key)
            if not hits:
                break
            self.submit(hits, self.take(len(hits)), True)
        if len(self.jobs) < MOST_JOBS and len(self.free) > 16 and self.number < self.options.jobs:
            keys = self.random.sample(self.keys, self.random.randint(1, 8))
            slots = self.take(len(keys))
            for key, slot in zip(keys, slots):
                self.region.write(slot, self.content(key))
            self.submit(keys, slots, False)
            if self.random.random() < 0.7:
                self.wanted.update((key, time.monotonic()) for key in self.random.sample(self.keys, 6) + keys[:2])
        if self.faults and self.number >= self.faults[0][0] and not self.down:
            getattr(self, self.faults.popleft()[1])()
        if self.down:
            time.sleep(0.1)
        elif self.failures > 2:  # while the tier connects, say
            time.sleep(0.01)
        elif len(self.jobs) >= MOST_JOBS:
            time.sleep(0.0005)

    # --- faults

    def kill(self):
        self.down = True
        self.count["killed"] += 1
        self.node.kill()

        def again():
            try:
                self.node.start()
                self.node.connected().close()
                time.sleep(0.5)  # the tier connects again
            except (StartError, penstock.PenstockError) as error:
                self.problem(f"node must start again: {error}")
            self.down = False

        self.starting = threading.Thread(target=again)
        self.starting.start()

    def cut(self):
        """The connection ends, the node does not: it may be amid a copy."""
        self.count["cut"] += 1
        with contextlib.suppress(OSError):
            socket.socket(fileno=os.dup(self.tier.connection.fileno())).shutdown(socket.SHUT_RDWR)

    def freeze(self):
        self.count["frozen"] += 1
        process = self.node.process
        process.send_signal(signal.SIGSTOP)
        threading.Timer(self.random.uniform(0.05, 0.6), process.send_signal, (signal.SIGCONT,)).start()

    def damage(self):
        for key in self.random.sample(self.keys, min(200, len(self.keys))):  # one that the node has
            self.wanted.pop(key, None)
            while self.look(key) == "RETRY":
                time.sleep(0.001)
            if self.look(key) == "HIT":
                began = time.monotonic()
                found = self.node.flip(self.content(key)[:64])
                self.count["damaged"] += found > 0
                stood = time.monotonic() - began  # the trial, not the tier
                self.jobs = {number: (job, since + stood) for number, (job, since) in self.jobs.items()}
                if len(self.free) > 16:
                    self.submit([key], self.take(1), True)
                return

    def full(self):
        self.count["filled"] += 1
        with self.node.connected() as other:  # puts that have room and send nothing
            for i in range(8):
                hashes = [os.urandom(16) for _ in range(min(64, other.welcome["windowBlocks"]))]
                other._open("put", penstock.REQUEST_CHANNEL, {
                    "keys": other.keys(hashes), "maxSliceBytes": other.welcome["maxSliceBytes"], "ticket": 0,
                    "windowBlocks": len(hashes), "outcomes": True}, 300)
            end = time.monotonic() + 1
            while time.monotonic() < end:
                self.finished(self.called(self.tier.get_finished_jobs))
                if len(self.free) > 16 and len(self.jobs) < MOST_JOBS:
                    keys = [os.urandom(36) for _ in range(4)]  # of no other job: they need room
                    slots = self.take(4)
                    for key, slot in zip(keys, slots):
                        self.region.write(slot, self.content(key))
                    self.submit(keys, slots, False)
                time.sleep(0.005)

    # --- all of it

    def await_tier(self):
        """Stores until the tier has connected."""
        end = time.monotonic() + TIER_SECONDS
        while not self.count["store done"]:
            if time.monotonic() > end:
                raise StartError(f"node must store a block of the tier within {TIER_SECONDS} s")
            (slot,) = self.take(1)
            self.region.write(slot, self.content(self.keys[0]))
            self.submit([self.keys[0]], [slot], False)
            self.tier.drain_jobs()
            self.finished(self.tier.get_finished_jobs())
            time.sleep(0.01)
        self.number, self.latest = 0, []
        self.count.clear()

    def run(self):
        self.await_tier()
        while (self.number < self.options.jobs or self.faults) and not self.problems:
            self.step()
        if self.starting:
            self.starting.join()
        self.tier.drain_jobs()
        self.finished(self.tier.get_finished_jobs())
        if self.jobs:
            self.problem(f"drain_jobs must end every job (left {list(self.jobs)})")
        for is_late in (False, True):
            for _ in range(8):
                key, (slot,) = self.random.choice(self.keys), self.take(1)
                self.region.write(slot, self.content(key))
                self.submit([key], [slot], False)
            self.tier.shutdown()
            self.finished(self.tier.get_finished_jobs())
            if self.jobs:
                self.problem(f"shutdown must end every job (left {list(self.jobs)})")
        if self.slow > SLOWEST_CALL:
            self.problem(f"a call must return at once (took {self.slow:.3f} s)")
        return self.report()

    def report(self):
        self.latest.sort()
        print(f"seed {self.options.seed}: {self.number} jobs,", ", ".join(
            f"{number} {name}" for name, number in sorted(self.count.items())))
        if self.latest:
            last = len(self.latest) - 1
            half, most, all_of_them = (1000 * self.latest[last * part // 100] for part in (50, 99, 100))
            print(f"stores ended within {half:.1f} ms (half), {most:.0f} ms (99 %), {all_of_them:.0f} ms (all);",
                  f"slowest call {self.slow * 1000:.1f} ms")
        for each in self.problems[:20]:
            print("problem:", each)
        return not self.problems

    def close(self):
        if self.starting:
            self.starting.join()
        self.node.kill()
        self.region.close()


def at_least(least):
    def number(text):
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"must be >= {least} (was {text})")
        return int(text)

    return number


def arguments():
    parser = argparse.ArgumentParser(
        usage="vllm_trial.py [OPTIONS] -- COMMAND", description=__doc__, epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default, least, text in (
            ("jobs", 500, 1, "stores and loads"),
            ("kills", 1, 0, "how often the node is killed and started again"),
            ("freezes", 1, 0, "how often the node is stopped for 0.05 to 0.6 s (SIGSTOP)"),
            ("damages", 3, 0, "how often a bit of a block is flipped in the node's memory"),
            ("fulls", 1, 0, "how often puts that send nothing take the room of the node"),
            ("cuts", 2, 0, "how often the connection of the tier is ended"),
            ("keys", 3000, 8, "keys that jobs choose from; with more than the node has room for, it evicts"),
            ("stride", 8192, 64, "bytes of a slot, and of a block of the node"),
            ("seed", 0, 0, "seed of all choices; 0 takes one at random and prints it")):
        parser.add_argument("--" + name, type=at_least(least), default=default, metavar="N",
                            help=f"{text} (default: %(default)s)")
    parser.add_argument("--names", choices=("earlier", "later"), default="later",
                        help="names of methods as earlier or later releases of vLLM have them (default: %(default)s)")
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="starts a node, as in the example below")
    return parser


def main():
    global penstock_vllm  # finds what the stand-in installs
    options = arguments().parse_args()
    options.seed = options.seed or int.from_bytes(os.urandom(4), "big")
    vllm_stand_in.install(options.names == "later")
    import penstock_vllm

    with tempfile.TemporaryDirectory(prefix="penstock-") as folder:
        trial = Trial(options, folder)
        try:
            trial.start()
            return 0 if trial.run() else 1
        except StartError as error:
            print("vllm_trial.py: error:", error, file=sys.stderr)
            return 2
        finally:
            trial.close()


if __name__ == "__main__":
    sys.exit(main())
