"""What the tier does without a node; with one: vllm_trial.py."""

import fcntl
import os
import tempfile
import threading
import time
import unittest

import penstock_vllm
import vllm_stand_in
from penstock_vllm import HIT, MISS, RETRY, PenstockTier


class Named:
    """An object with these attributes, some of them dotted."""

    def __init__(self, **values):
        for name, value in values.items():
            first, _, rest = name.partition("__")
            setattr(self, first, Named(**{**vars(getattr(self, first, Named())), rest: value}) if rest else value)


class PenstockTierTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.region = vllm_stand_in.Region(f"test_{os.getpid()}_{id(self)}", 4, 4096)
        self.address = f"unix:{self.folder.name}/node.sock"
        penstock_vllm.LOG.disabled = True

    def tearDown(self):
        self.region.close()
        self.folder.cleanup()

    def tier(self, **options):
        return PenstockTier(primary_kv_view=self.region.view, address=self.address, **{"fingerprint": "f", **options})

    def test_without_a_node_lookups_are_misses_and_jobs_end_as_failed_once(self):
        tier = self.tier()
        self.assertEqual(tier.lookup(b"key", None), MISS)
        for number in range(3):
            tier.submit_store(vllm_stand_in.Job(number, [b"a", b"b"], [0, 1], False))
            tier.submit_load(vllm_stand_in.Job(10 + number, [b"a", b"b"], [2, 3], True))
        tier.drain_jobs()
        ended = [(each.job_id, each.success) for each in tier.get_finished_jobs()]
        self.assertEqual(sorted(ended), [(number, False) for number in (0, 1, 2, 10, 11, 12)])
        self.assertEqual(list(tier.get_finished_jobs()), [])
        self.assertFalse(tier.has_pending_work())
        tier.shutdown()
        tier.shutdown()
        tier.submit_load(vllm_stand_in.Job(20, [b"a"], [2], True))
        self.assertEqual([each.job_id for each in tier.get_finished()], [20])
        self.assertFalse(any(each.name == "penstock-vllm" for each in threading.enumerate()))

    def test_slots_outside_the_region_are_refused(self):
        tier = self.tier()
        for keys, slots in (([b"a"], [4]), ([b"a"], [-1]), ([b"a", b"b"], [0])):
            with self.assertRaises(ValueError):
                tier.submit_store(vllm_stand_in.Job(1, keys, slots, False))
        self.assertFalse(tier.has_pending_work())
        tier.shutdown()

    def test_an_answer_is_given_once_and_then_believed_for_a_while(self):
        tier = self.tier()
        tier.shutdown()  # its thread touches nothing any more
        tier._up = True
        self.assertEqual(tier.lookup(b"key", None), RETRY)
        tier._answered(penstock_vllm._Request(0, None, 0, [b"key", b"other"]), {"bits": "AQ=="})
        self.assertEqual([tier.lookup(b"key", None), tier.lookup(b"other", None)], [HIT, MISS])
        self.assertEqual(tier.lookup(b"key", None), HIT)
        tier._answers[b"key"] = (True, time.monotonic() - 1)
        self.assertEqual(tier.lookup(b"key", None), RETRY)
        tier._asked[b"key"] = time.monotonic() - 2
        self.assertEqual(tier.lookup(b"key", None), MISS)  # the node did not answer in time

    def test_keys_of_another_engine_are_other_keys(self):
        config = Named(model_config__model="m", model_config__dtype="bf16", parallel_config__tensor_parallel_size=2)
        tiers = [self.tier(), self.tier(fingerprint="g"), self.tier(vllm_config=config),
                 self.tier(vllm_config=config, fingerprint=""), self.tier(offloading_spec=Named(vllm_config=config))]
        self.assertEqual(tiers[2].fingerprint, "f;model_config.model=m;model_config.dtype=bf16;"
                                               "parallel_config.tensor_parallel_size=2;stride=4096")
        self.assertEqual(tiers[2].fingerprint, tiers[4].fingerprint)
        self.assertEqual(len({tier._hash(b"key") for tier in tiers}), 4)
        for tier in tiers:
            tier.shutdown()
        with self.assertRaisesRegex(ValueError, "fingerprint must be given"):
            self.tier(fingerprint="")

    def fenced(self, **options):
        """A tier with a job at a node that has no connection any more, and still holds the region."""
        tier = self.tier(**options)
        tier.shutdown()  # its thread touches nothing any more
        tier._ending, tier._file = False, os.open(self.region.path, os.O_RDWR)
        self.addCleanup(os.close, tier._file)
        job = penstock_vllm._Job(1, False, [b"a"], [0], None, 0.0, waits=1)
        tier._open[1] = job
        node = os.open(self.region.path, os.O_RDWR)
        self.addCleanup(os.close, node)
        fcntl.flock(node, fcntl.LOCK_SH)
        connection = threading.Thread(target=tier._down, args=({1: penstock_vllm._Request(0.0, job, 0, [b"a"])},))
        connection.start()
        return tier, node, connection

    def test_drain_jobs_waits_as_long_as_the_node_may_write_to_a_slot(self):
        tier, node, connection = self.fenced(fence_seconds=0.01)
        drain = threading.Thread(target=tier.drain_jobs)
        drain.start()
        drain.join(0.5)
        self.assertTrue(drain.is_alive())
        self.assertEqual(list(tier.get_finished_jobs()), [])
        fcntl.flock(node, fcntl.LOCK_UN)
        drain.join(60)
        connection.join(60)
        self.assertEqual([(each.job_id, each.success) for each in tier.get_finished_jobs()], [(1, False)])

    def test_shutdown_waits_for_a_node_that_is_stopped_and_not_for_ever(self):
        tier, _, connection = self.fenced(fence_seconds=0.01)
        with tier._change:
            tier._ending = True
        tier.drain_jobs()
        connection.join(60)
        self.assertEqual([(each.job_id, each.success) for each in tier.get_finished_jobs()], [(1, False)])

    def test_the_file_is_told_to_the_node_by_its_inode(self):
        tier, stat = self.tier(), os.stat(self.region.path)
        self.assertEqual(tier._same, {"device": stat.st_dev, "inode": stat.st_ino})
        tier.shutdown()

    def test_a_view_that_is_no_shared_memory_is_refused(self):
        with self.assertRaisesRegex(ValueError, "must begin where a file in shared memory does"):
            PenstockTier(primary_kv_view=memoryview(bytearray(1 << 20)).cast("b", (256, 4096)), address=self.address,
                         fingerprint="f")


if __name__ == "__main__":
    unittest.main()
