package io.penstock.node.kvevents;

import io.penstock.block.BlockHash;
import io.penstock.tier.TierHolds.BlockTokens;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.List;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePacker;

/// Packs a batch: `[time in seconds, [event…], nil]`, or a map of time and events. The third element is the
/// data-parallel rank, which a node lacks; a map leaves it out.
///
/// A node stores blocks under hashes. Where no tokens came with the put, an event has no parent and no tokens, as
/// vLLM's own events of offloaded blocks.
///
/// @param blockTokens tokens of a block
/// @param group index of the group of layers
record KvEncoder(KvLayout layout, HashForm hashes, int blockTokens, int group) {
  byte[] pack(double seconds, List<KvEvent> events) {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      if (layout == KvLayout.MAP_BATCH) {
        packer.packMapHeader(2).packString("ts").packDouble(seconds).packString("events");
        pack(events, packer);
      } else {
        packer.packArrayHeader(3).packDouble(seconds);
        pack(events, packer);
        packer.packNil();
      }
      return packer.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // memory does not fail
    }
  }

  private void pack(List<KvEvent> events, MessageBufferPacker packer) throws IOException {
    packer.packArrayHeader(events.size());
    for (KvEvent event : events) {
      pack(event, packer);
    }
  }

  private void pack(KvEvent event, MessagePacker packer) throws IOException {
    if (layout == KvLayout.ARRAY) {
      packArray(event, packer);
    } else {
      packMap(event, packer);
    }
  }

  /// Fields in the order of vLLM's classes, up to `group_idx`.
  private void packArray(KvEvent event, MessagePacker packer) throws IOException {
    switch (event) {
      case KvEvent.BlockStored stored -> {
        packer.packArrayHeader(10).packString("BlockStored");
        packHashes(stored.hashes(), packer);
        packParent(stored, packer);
        packTokens(stored, packer);
        packer.packInt(blockTokens).packNil().packString(stored.medium().name()).packNil().packNil().packInt(group);
      }
      case KvEvent.BlockRemoved removed -> {
        packer.packArrayHeader(4).packString("BlockRemoved");
        packHashes(removed.hashes(), packer);
        packer.packString(removed.medium().name()).packInt(group);
      }
      case KvEvent.AllBlocksCleared cleared -> packer.packArrayHeader(1).packString("AllBlocksCleared");
    }
  }

  private void packMap(KvEvent event, MessagePacker packer) throws IOException {
    switch (event) {
      case KvEvent.BlockStored stored -> {
        packer.packMapHeader(9).packString("type").packString("BlockStored").packString("block_hashes");
        packHashes(stored.hashes(), packer);
        packer.packString("parent_block_hash");
        packParent(stored, packer);
        packer.packString("token_ids");
        packTokens(stored, packer);
        packer.packString("block_size").packInt(blockTokens).packString("lora_id").packNil().packString("medium")
            .packString(stored.medium().name()).packString("lora_name").packNil().packString("group_idx")
            .packInt(group);
      }
      case KvEvent.BlockRemoved removed -> {
        packer.packMapHeader(4).packString("type").packString("BlockRemoved").packString("block_hashes");
        packHashes(removed.hashes(), packer);
        packer.packString("medium").packString(removed.medium().name()).packString("group_idx").packInt(group);
      }
      case KvEvent.AllBlocksCleared cleared ->
        packer.packMapHeader(1).packString("type").packString("AllBlocksCleared");
    }
  }

  private void packHashes(List<BlockHash> blocks, MessagePacker packer) throws IOException {
    packer.packArrayHeader(blocks.size());
    for (BlockHash block : blocks) {
      packHash(block, packer);
    }
  }

  private void packHash(BlockHash block, MessagePacker packer) throws IOException {
    if (hashes == HashForm.BYTES) {
      byte[] bytes = ByteBuffer.allocate(BlockHash.BYTES).putLong(block.high()).putLong(block.low()).array();
      packer.packBinaryHeader(bytes.length).writePayload(bytes);
    } else if (block.low() >= 0) {
      packer.packLong(block.low());
    } else {
      packer.packBigInteger(new BigInteger(Long.toUnsignedString(block.low())));
    }
  }

  private void packParent(KvEvent.BlockStored stored, MessagePacker packer) throws IOException {
    BlockHash parent = stored.parent();
    if (parent == null) {
      packer.packNil();
    } else {
      packHash(parent, packer);
    }
  }

  private static void packTokens(KvEvent.BlockStored stored, MessagePacker packer) throws IOException {
    packer.packArrayHeader(stored.tokens().stream().mapToInt(tokens -> tokens.ids().length).sum());
    for (BlockTokens tokens : stored.tokens()) {
      for (int id : tokens.ids()) {
        packer.packInt(id);
      }
    }
  }
}
