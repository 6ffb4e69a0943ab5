"""Puts three blocks into a node, and gets them back: python3 example.py 127.0.0.1:7733"""

import sys

from penstock import Node


def main(address):
    with Node.at(address) as node:
        space = node.space
        print(f"{node.welcome['node']} has blocks of {space.tokens} tokens, {space.block_bytes} bytes each")
        prompt = list(range(3 * space.tokens))
        hashes = space.hashes(prompt)
        blocks = [bytes((i + j) % 251 for j in range(space.block_bytes)) for i in range(len(hashes))]
        print(f"before: {node.match(hashes)} of {len(hashes)} blocks")
        stored = node.put(hashes, blocks)
        print(f"put: {', '.join(each.get('durability', str(each)) for each in stored)}")
        print(f"after: {node.match(hashes)} of {len(hashes)} blocks")
        print("equal:", str(node.get(hashes) == blocks).lower())


if __name__ == "__main__":
    main(sys.argv[1])
