import pathlib
import re
import unittest

from penstock import CorruptError, PenstockError, Space, crc32c, encode_slice, land_slice, place

SPACE = Space("example", 2, 2, [("KEY", "INT8", 1, 4), ("VALUE", "INT8", 1, 4)])
HASHES = SPACE.hashes([1, 2])
BLOCK = bytes(range(32))
# As the node computes them
IDS = ["1e896fc774f899c5d39c57e66d6221ff", "faaa62fdd70fe3af49909037589ce1d7",
       "1fd7ca50729f880ec5d2e3efe2c3bf9e"]
STATES = ["1103c1de208de31385e3b6e3d240934d"]
PROTOCOL = pathlib.Path(__file__).parents[3] / "rsocket-api" / "wire" / "PROTOCOL.md"


def sample(name):
    """A block of bytes of PROTOCOL.md."""
    return bytes.fromhex(re.search(rf"```hex {name}\n([^`]*)```", PROTOCOL.read_text("utf-8"))[1])


def slices(most):
    cuts = list(SPACE.cuts(most))
    return [encode_slice(SPACE, HASHES, 0, len(cuts) - 1 - i, 0, cut, BLOCK) for i, cut in enumerate(cuts)]


class SmallClientTest(unittest.TestCase):
    def test_checksums_keys_and_slices_are_those_of_the_protocol(self):
        self.assertEqual(crc32c(b"123456789"), 0xE3069283)
        self.assertEqual(SPACE.id + HASHES[0], sample("key"))
        self.assertEqual(slices(16)[0], sample("slice"))

    def test_groups_and_fingerprints_are_in_the_id_and_in_the_message(self):
        planes = [("KEY", "INT8", 1, 4), ("VALUE", "INT8", 1, 4)]
        named = Space("example", 2, 2, planes, fingerprint="w1 é")
        window = Space("example", 2, 2, planes, group=1, salt="s", window_tokens=8, group_layers=[0, 2],
                       fingerprint="w1")
        states = Space("example", 2, 1, [("STATE", "INT8", 1, 4)], group=2, state_tokens=4)
        self.assertEqual([one.id.hex() for one in (named, window, states)], IDS)
        self.assertEqual([one.hex() for one in states.hashes([1, 2, 3, 4, 5])], STATES)
        for one in (SPACE, named, window, states):
            self.assertEqual(Space.told(one.message()).message(), one.message())
        self.assertNotIn("kind", SPACE.message())
        self.assertNotIn("fingerprint", SPACE.message())

    def test_a_block_arrives_from_slices_of_any_cut_in_any_order(self):
        for most in (4, 8, 16, 32):
            blocks = {}
            for each in reversed(slices(most)):
                land_slice(SPACE, HASHES, each, blocks)
            self.assertEqual(blocks[0].whole(), BLOCK, f"slices of {most} bytes")

    def test_every_changed_bit_of_a_slice_is_found_and_nothing_of_it_is_used(self):
        whole = slices(16)[0]
        for bit in range(8 * len(whole)):
            damaged, blocks = bytearray(whole), {}
            damaged[bit >> 3] ^= 1 << (bit & 7)
            with self.assertRaises(CorruptError, msg=f"bit {bit}"):
                land_slice(SPACE, HASHES, bytes(damaged), blocks)
            self.assertEqual(blocks, {})
        with self.assertRaises(CorruptError):
            land_slice(SPACE, SPACE.hashes([3, 4]), whole, {})

    def test_a_part_that_comes_twice_or_not_at_all_is_no_block(self):
        blocks = {}
        for _ in range(2):
            land_slice(SPACE, HASHES, slices(16)[0], blocks)
            with self.assertRaises(CorruptError):
                blocks[0].whole()

    def test_an_address_is_read_as_it_is_printed(self):
        for text, read in {"node7:7733": ("node7", 7733), "127.0.0.1:1": ("127.0.0.1", 1), "[::1]:7733": ("::1", 7733),
                           "[fe80::1%eth0]:7733": ("fe80::1%eth0", 7733), "tcp://unix:7733": ("unix", 7733),
                           "unix:/run/a b:7": ("/run/a b:7", None)}.items():
            self.assertEqual(place(text), read)
        for text in ("", "node7", "::1:7733", "node7:0", "node7:65536", "unix:", "ws://node7:7734/penstock"):
            with self.assertRaises(ValueError, msg=text):
                place(text)

    def test_an_error_has_a_sentence_and_values(self):
        error = PenstockError(0x2005, 'node must not be draining\x1e{"store":-1010}')
        self.assertEqual((error.sentence, error.values, error.transient),
                         ("node must not be draining", {"store": -1010}, True))


if __name__ == "__main__":
    unittest.main()
