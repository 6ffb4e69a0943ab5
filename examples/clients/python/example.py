"""Puts three blocks into a node, and gets them back."""

import argparse
import sys

from penstock import CorruptError, Node, PenstockError, place


def main(address):
    with Node.at(address) as node:
        space = node.space
        print(f"{node.welcome['node']} has blocks of {space.tokens} tokens, {space.block_bytes} bytes each")
        prompt = list(range(3 * (space.state_tokens or space.tokens)))
        hashes = space.hashes(prompt)
        blocks = [bytes((i + j) % 251 for j in range(space.block_bytes)) for i in range(len(hashes))]
        print(f"before: {node.match(hashes)} of {len(hashes)} blocks")
        stored = node.put(hashes, blocks)
        print(f"put: {', '.join(each.get('durability', str(each)) for each in stored)}")
        print(f"after: {node.match(hashes)} of {len(hashes)} blocks")
        equal = node.get(hashes) == blocks
        print("equal: true" if equal else "equal: false, for the node has other bytes under these keys, or lost them")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address", nargs="?", default="127.0.0.1:7733",
                        help="HOST:PORT, IPv6 in brackets, or unix:PATH of the node (default: %(default)s)")
    node_address = parser.parse_args().address
    try:
        place(node_address)
    except ValueError as error:
        parser.error(str(error))
    try:
        main(node_address)
    except (OSError, PenstockError, CorruptError) as error:
        sys.exit(f"node {node_address}: {error}")
