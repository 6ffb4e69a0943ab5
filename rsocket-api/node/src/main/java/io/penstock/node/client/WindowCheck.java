package io.penstock.node.client;

import static java.util.Objects.requireNonNull;

import io.penstock.KvException;
import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.content.GeneratedInput;
import io.penstock.node.link.Answers;
import io.penstock.node.link.NodeLink;
import io.penstock.node.text.Reason;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.StoreHealth;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.protocol.WireFailure.RemoteTransientException;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Checks blocks that `load` put, some at a time.
final class WindowCheck {
  /// Blocks that are asked for at a time.
  static final int BLOCKS = 256;

  private final NodeLink node;
  private final int windowBlocks;
  private final Duration patience;
  private final Set<BlockKey> found = new HashSet<>();
  private boolean gone;
  private @Nullable String refusal;

  WindowCheck(NodeLink node, int windowBlocks, Duration patience) {
    this.node = node;
    this.windowBlocks = windowBlocks;
    this.patience = patience;
  }

  /// Fates of `keys`. A damaged block ends a stream, so the others are then asked for alone; by that time the node has
  /// dropped the damaged one. Once the node has gone, all fates are unknown.
  Map<BlockKey, BlockFate> fates(List<BlockKey> keys) {
    Map<BlockKey, BlockFate> fates = new LinkedHashMap<>();
    try {
      fates.putAll(gone ? Map.of() : read(keys));
    } catch (ConnectionLostException | UnavailableException e) {
      goneFor(e);
    } catch (KvException e) {
      Set<BlockKey> there = Set.copyOf(found);
      keys.forEach(key -> fates.put(key, gone ? BlockFate.UNKNOWN : alone(key, isDamage(e) && there.contains(key))));
    }
    keys.forEach(key -> fates.putIfAbsent(key, BlockFate.UNKNOWN));
    if (!gone && fates.containsValue(BlockFate.MISSING)) {
      excuse(fates);
    }
    return fates;
  }

  /// Excuses missing blocks that a level may have which gives none at present.
  private void excuse(Map<BlockKey, BlockFate> fates) {
    try {
      Answers.of(node.tier().stat(), patience).levels().stream().filter(level -> !level.health().state().gives())
          .findFirst().ifPresent(off -> {
            refused("level " + off.name() + " is off" + because(off.health()));
            fates.replaceAll((key, fate) -> fate == BlockFate.MISSING ? BlockFate.UNKNOWN : fate);
          });
    } catch (ConnectionLostException | UnavailableException e) {
      goneFor(e);
    }
  }

  private static String because(StoreHealth health) {
    return health.problem() == null ? "" : ": " + health.problem();
  }

  /// Asks a second time if the first request fails for another reason than damage: a node drops a block that it cannot
  /// read.
  ///
  /// @param suspect whether it was there until the node found damage
  private BlockFate alone(BlockKey key, boolean suspect) {
    RuntimeException failure = null;
    for (int asked = 0; asked < 2; asked++) {
      try {
        BlockFate fate = requireNonNull(read(List.of(key)).get(key));
        return suspect && fate == BlockFate.MISSING ? BlockFate.CORRUPT : fate;
      } catch (ConnectionLostException | UnavailableException e) {
        goneFor(e);
        return BlockFate.UNKNOWN;
      } catch (KvException e) {
        if (isDamage(e)) {
          return BlockFate.CORRUPT;
        }
        failure = e;
      }
    }
    refused(Reason.of(requireNonNull(failure)));
    return BlockFate.UNKNOWN;
  }

  private void goneFor(RuntimeException why) {
    gone = true;
    refused(Reason.of(why));
  }

  private void refused(String why) {
    if (refusal == null) {
      refusal = why;
    }
  }

  /// Why the first of those was not given of which nothing is known; null if there is none.
  @Nullable String refusal() {
    return refusal;
  }

  private static boolean isDamage(KvException error) {
    return error instanceof BlockCorruptException
        || (error instanceof RemoteTransientException remote && remote.code() == ErrorCode.BLOCK_CORRUPT.code());
  }

  private Map<BlockKey, BlockFate> read(List<BlockKey> keys) {
    Map<BlockKey, BlockFate> fates = new LinkedHashMap<>();
    found.clear();
    try (BlockScope scope = new BlockScope()) {
      Lease lease = Answers.of(node.tier().lease(keys, OnMiss.SKIP, scope), patience);
      for (int i = 0; i < keys.size(); i++) {
        fates.put(keys.get(i), lease.found().get(i) ? BlockFate.UNKNOWN : BlockFate.MISSING); // until it has come
      }
      lease.found().bits().stream().mapToObj(keys::get).forEach(found::add);
      for (List<LeasedBlock> window : lease.windows(windowBlocks, scope).toIterable(1)) {
        for (LeasedBlock one : window) {
          try (Block block = one.block()) {
            fates.put(keys.get(one.position()), GeneratedInput.differs(block) ? BlockFate.CORRUPT : BlockFate.PRESENT);
          }
        }
      }
    }
    return fates;
  }
}
