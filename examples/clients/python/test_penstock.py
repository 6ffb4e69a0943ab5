import json
import os
import pathlib
import re
import socket
import tempfile
import threading
import unittest

from penstock import CorruptError, Node, PenstockError, Space, crc32c, encode_slice, land_slice, place

SPACE = Space("example", 2, 2, [("KEY", "INT8", 1, 4), ("VALUE", "INT8", 1, 4)])
HASHES = SPACE.hashes([1, 2])
BLOCK = bytes(range(32))
# As the node computes them
IDS = ["1e896fc774f899c5d39c57e66d6221ff", "faaa62fdd70fe3af49909037589ce1d7",
       "1fd7ca50729f880ec5d2e3efe2c3bf9e"]
STATES = ["1103c1de208de31385e3b6e3d240934d"]
ROOT = pathlib.Path(__file__).parents[3]
PROTOCOL, SMALL_CLIENT = ROOT / "rsocket-api/wire/PROTOCOL.md", ROOT / "rsocket-api/wire/docs/small-client.md"


def sample(name, page=PROTOCOL):
    """A block of bytes of a page."""
    return bytes.fromhex(re.search(rf"```hex {name}\n([^`]*)```", page.read_text("utf-8"))[1])


def vectors(name):
    """Rows of a file of vectors of the kernel."""
    lines = (ROOT / "pipeline/src/test/resources" / name).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def split(frame):
    """A frame as bytes in front of its message, and the message with the name of the client left out."""
    at = frame.find(b"{")
    message = json.loads(frame[at:]) if at >= 0 else {}
    message.pop("client", None)
    return frame[3:at] if at >= 0 else frame[3:], message


class ScriptedNode(threading.Thread):
    """A node that reads what small-client.md says a client sends, and answers what it says a node answers."""

    def __init__(self, path, script):
        super().__init__(daemon=True)
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(path)
        self.listening.listen()
        self.script, self.differences = script, []
        self.start()

    def run(self):
        peer, _ = self.listening.accept()
        with peer, peer.makefile("rb") as frames:
            for is_client, wanted in self.script:
                if is_client:
                    length = frames.read(3)
                    came = length + frames.read(int.from_bytes(length, "big"))
                    if split(came) != split(wanted):
                        self.differences.append((came, wanted))
                else:
                    peer.sendall(wanted)
            frames.read()  # until the client leaves
        self.listening.close()


def payload(stream, flags, data):
    frame = stream.to_bytes(4, "big") + (0x0A << 10 | flags).to_bytes(2, "big") + data
    return len(frame).to_bytes(3, "big") + frame


def slices(most):
    cuts = list(SPACE.cuts(most))
    return [encode_slice(SPACE, HASHES, 0, len(cuts) - 1 - i, 0, cut, BLOCK) for i, cut in enumerate(cuts)]


def unconnected():
    """A node of this thread that has no socket."""
    node = Node.__new__(Node)
    node.space, node.welcome, node.thread, node._stream = SPACE, {"maxKeys": 64}, threading.current_thread(), -1
    return node


class SmallClientTest(unittest.TestCase):
    def test_a_send_that_fails_within_a_frame_ends_the_connection(self):
        ours, theirs = socket.socketpair()
        node = Node.__new__(Node)
        node._socket, node._lock, node._closed = ours, threading.Lock(), threading.Event()
        ours.settimeout(0.05)
        with ours, theirs:
            with self.assertRaises(TimeoutError):
                node._send(1, 10, 0, bytes(8 << 20))  # more than the socket takes
            ours.settimeout(30)
            with self.assertRaises(ConnectionError):
                node._send(0, 3, 0, bytes(8))
            theirs.settimeout(30)
            came = 0
            while data := theirs.recv(1 << 20):
                came += len(data)
            self.assertLess(came, 8 << 20)

    def test_checksums_keys_and_slices_are_those_of_the_protocol(self):
        self.assertEqual(crc32c(b"123456789"), 0xE3069283)
        self.assertEqual(SPACE.id + HASHES[0], sample("key"))
        self.assertEqual(slices(16)[0], sample("slice"))

    def test_spaces_and_prefixes_have_the_hashes_of_the_vectors(self):
        spaces = vectors("space-vectors.tsv")
        for model, layers, tokens, order, planes, group, salt, space_id in spaces:
            planes = [(kind, element, int(heads), int(width)) for kind, element, heads, width in
                      (plane.split("/") for plane in planes.split(","))]
            space = Space(model, int(layers), int(tokens), planes, order, int(group), salt)
            self.assertEqual(space.id.hex(), space_id)
        rows = [row[1:] for row in vectors("prefix-vectors.tsv") if row[0] == "next" and row[2]]
        for parent, tokens, extra, found in rows:
            tokens = [int(each) for each in tokens.split(",")]
            extra = [each[1:-1] for each in extra.split("|")] if extra else []
            space = Space("any", 1, len(tokens), [("VALUE", "INT8", 1, 64)])
            self.assertEqual(space.hashes(tokens, extra, bytes.fromhex(parent))[0].hex(), found)
        self.assertGreater(min(len(spaces), len(rows)), 8)

    def test_checksum_of_every_length_is_that_of_the_table(self):
        data = bytes(i * i % 251 for i in range(20_000))
        for length in [*range(0, 300), 4095, 4096, 4097, 8191, 8192, 12_345, 20_000]:
            plain = 0xFFFFFFFF
            for byte in data[:length]:
                plain ^= byte
                for _ in range(8):
                    plain = plain >> 1 ^ 0x82F63B78 if plain & 1 else plain >> 1
            self.assertEqual(crc32c(data[:length]), plain ^ 0xFFFFFFFF, f"{length} bytes")

    def test_frames_are_those_of_the_page_for_small_clients(self):
        def page(name):
            return sample(name, SMALL_CLIENT)

        whole = encode_slice(SPACE, HASHES, 0, 0, 0, next(SPACE.cuts(32)), BLOCK)
        script = [(True, page("setup")), (True, page("hello")), (False, page("welcome")), (True, page("match")),
                  (False, page("prefix")), (True, page("get")), (False, page("found")),
                  (False, payload(5, 0x20, whole)), (True, page("request-more")), (False, payload(5, 0x40, b"")),
                  (True, page("put")), (False, page("room")), (False, page("credit")),
                  (True, payload(7, 0x60, whole)), (False, page("stored")), (False, page("complete"))]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "node")
            scripted = ScriptedNode(path, script)
            with Node.at("unix:" + path, space=SPACE) as node:
                self.assertEqual(node.match(HASHES), 1)
                self.assertEqual(node.get(HASHES), [BLOCK])
                self.assertEqual(node.put(HASHES, [BLOCK])[0]["durability"], "VOLATILE")
            scripted.join(10)
            self.assertEqual(scripted.differences, [])

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

    def test_hashes_and_ids_of_another_length_are_refused(self):
        node = unconnected()
        self.assertEqual(node.keys(HASHES), {"space": "wuqj6IoES6b6vLisEQacrA==", "hashes": "dHHNLDGfEiACXaXF7q19XQ=="})
        for wrong, told in (([bytes(32)], "32"), ([bytes(8), bytes(8)], "8"), ([b""], "0"), (HASHES + [bytes(15)],
                            "15"), (bytes(16), "int"), (["0123456789abcdef"], "str")):
            with self.assertRaisesRegex(ValueError, rf"^hash must have 16 bytes \(was {told}\)$"):
                node.keys(wrong)
        with self.assertRaisesRegex(ValueError, r"^parent must have 16 bytes \(was 4\)$"):
            SPACE.hashes([1, 2], parent=b"root")
        with self.assertRaisesRegex(ValueError, r"^space_id must have 16 bytes \(was 3\)$"):
            Space("example", 2, 2, SPACE.planes, space_id=b"abc")

    def test_slots_that_are_no_list_of_one_a_hash_are_refused(self):
        node = unconnected()
        self.assertEqual(node.slots(1, HASHES * 2, [7, 7])["slots"], "BwAAAAcAAAA=")
        for wrong in ([], [1, 2], [-1], [1 << 31]):
            with self.assertRaisesRegex(ValueError, r"^slots must be 1, one a hash, from 0 to 2147483647 \(were \["):
                node.slots(1, HASHES, wrong)
        with self.assertRaisesRegex(ValueError, r"^slots must be distinct \(were \[7, 7\]\)$"):
            node.load(1, HASHES * 2, [7, 7])

    def test_a_node_of_another_thread_sends_nothing_until_it_is_taken_over(self):
        node, sent, ended = unconnected(), [], []
        node._send = lambda *frame: sent.append(frame)

        def use(is_owner):
            try:
                if is_owner:
                    node.thread = threading.current_thread()
                ended.append(node.begin("exists", {}))
            except RuntimeError as error:
                ended.append(str(error))

        for is_owner in (False, True):
            other = threading.Thread(target=use, args=(is_owner,), name="other")
            other.start()
            other.join(30)
        self.assertEqual(ended, ["node of MainThread must not be used by another thread (was other)", 1])
        self.assertEqual(len(sent), 1)

    def test_an_error_has_a_sentence_and_values(self):
        error = PenstockError(b'\0\0\x20\x05' b'node must not be draining\x1e{"store":-1010}')
        self.assertEqual((error.sentence, error.values, error.transient),
                         ("node must not be draining", {"store": -1010}, True))


if __name__ == "__main__":
    unittest.main()
