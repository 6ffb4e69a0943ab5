// Puts three blocks into a node, and gets them back: node example.mjs 127.0.0.1:7733
import { Node } from "./penstock.mjs";

const node = await Node.at(process.argv[2] ?? "127.0.0.1:7733");
const { space } = node;
console.log(`${node.welcome.node} has blocks of ${space.tokens} tokens, ${space.blockBytes} bytes each`);
const hashes = space.hashes(Array.from({ length: 3 * space.tokens }, (_, i) => i));
const blocks = hashes.map((_, i) => Buffer.from(Array.from({ length: space.blockBytes }, (_, j) => (i + j) % 251)));
console.log(`before: ${await node.match(hashes)} of ${hashes.length} blocks`);
const stored = await node.put(hashes, blocks);
console.log(`put: ${stored.map((one) => one.durability ?? JSON.stringify(one)).join(", ")}`);
console.log(`after: ${await node.match(hashes)} of ${hashes.length} blocks`);
console.log(`equal: ${(await node.get(hashes)).every((one, i) => one?.equals(blocks[i]))}`);
node.close();
