package io.penstock.node.client;

import static java.util.Objects.requireNonNull;

import io.penstock.KvException;
import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.node.cli.UnavailableException;
import io.penstock.tier.Lease;
import io.penstock.tier.Leased;
import io.penstock.tier.OnMiss;
import io.penstock.wire.ConnectionLostException;
import io.penstock.wire.ErrorCode;
import io.penstock.wire.RemoteTransientException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Looks after blocks that were put by `load`, some at a time.
final class WindowCheck {
  /// Blocks that are asked for at a time.
  static final int BLOCKS = 256;

  private final NodeLink node;
  private final int windowBlocks;
  private final Duration patience;

  WindowCheck(NodeLink node, int windowBlocks, Duration patience) {
    this.node = node;
    this.windowBlocks = windowBlocks;
    this.patience = patience;
  }

  /// What became of each of `keys`. A damaged block ends a stream, so the others are asked for alone then.
  Map<BlockKey, BlockFate> fates(List<BlockKey> keys) {
    try {
      return read(keys);
    } catch (ConnectionLostException | UnavailableException e) {
      throw e;
    } catch (KvException e) {
      Map<BlockKey, BlockFate> fates = new LinkedHashMap<>();
      keys.forEach(key -> fates.put(key, alone(key)));
      return fates;
    }
  }

  /// Asks a second time if the first fails for another reason than damage: a node that cannot read a block lets go of it.
  private BlockFate alone(BlockKey key) {
    try {
      return requireNonNull(read(List.of(key)).get(key));
    } catch (ConnectionLostException | UnavailableException e) {
      throw e;
    } catch (KvException e) {
      return isDamage(e) ? BlockFate.CORRUPT : requireNonNull(read(List.of(key)).get(key));
    }
  }

  private static boolean isDamage(KvException error) {
    return error instanceof BlockCorruptException
        || (error instanceof RemoteTransientException remote && remote.code() == ErrorCode.BLOCK_CORRUPT.code());
  }

  private Map<BlockKey, BlockFate> read(List<BlockKey> keys) {
    Map<BlockKey, BlockFate> fates = new LinkedHashMap<>();
    try (BlockScope scope = new BlockScope()) {
      Lease lease = Answers.of(node.tier().lease(keys, OnMiss.SKIP, scope), patience);
      for (int i = 0; i < keys.size(); i++) {
        fates.put(keys.get(i), lease.found().get(i) ? BlockFate.CORRUPT : BlockFate.MISSING); // until it has come
      }
      for (List<Leased> window : lease.windows(windowBlocks, scope).toIterable(1)) {
        for (Leased one : window) {
          try (Block block = one.block()) {
            fates.put(keys.get(one.position()), GeneratedInput.differs(block) ? BlockFate.CORRUPT : BlockFate.PRESENT);
          }
        }
      }
    }
    return fates;
  }
}
