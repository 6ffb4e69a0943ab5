// Puts three blocks into a node, and gets them back: node example.mjs [127.0.0.1:7733]
import { Node } from "./penstock.mjs";

async function main(address) {
  const node = await Node.at(address);
  const { space } = node;
  console.log(`${node.welcome.node} has blocks of ${space.tokens} tokens, ${space.blockBytes} bytes each`);
  const tokens = 3 * (space.kind?.stateTokens || space.tokens);
  const hashes = space.hashes(Array.from({ length: tokens }, (_, i) => i));
  const blocks = hashes.map((_, i) => Buffer.from(Array.from({ length: space.blockBytes }, (_, j) => (i + j) % 251)));
  console.log(`before: ${await node.match(hashes)} of ${hashes.length} blocks`);
  const stored = await node.put(hashes, blocks);
  console.log(`put: ${stored.map((one) => one.durability ?? JSON.stringify(one)).join(", ")}`);
  console.log(`after: ${await node.match(hashes)} of ${hashes.length} blocks`);
  const equal = (await node.get(hashes)).every((one, i) => one?.equals(blocks[i]));
  console.log(equal ? "equal: true" : "equal: false, for the node has other bytes under these keys, or lost them");
  node.close();
}

const address = process.argv[2] ?? "127.0.0.1:7733";
main(address).catch((error) => {
  console.error(`node ${address}: ${error.message}`);
  process.exitCode = 1;
});
