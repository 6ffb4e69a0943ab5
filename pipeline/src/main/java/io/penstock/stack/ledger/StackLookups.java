package io.penstock.stack.ledger;

import io.penstock.block.BlockKey;
import io.penstock.pool.PrefixIndex;
import io.penstock.stack.decision.StackFigures;
import io.penstock.stack.shape.StackShape;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Receipt.Durability;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.function.ToIntFunction;

/// Answers which keys of a `TierStack` can be read now, and from where.
///
/// If decisions are not exact: from any thread, also outside a decision, out of the index of readable keys; see
/// [PrefixIndex] for what a reader is told then. Else: in decisions only, out of the ledger.
public final class StackLookups {
  private final StackShape shape;
  private final StackFigures figures;
  private final LevelStates states;
  private final ToIntFunction<BlockKey> ofLedger;

  /// @param ofLedger where the ledger has the bytes of a key, see [StackFigures#places]; 0 if the key is not visible
  StackLookups(StackShape shape, StackFigures figures, LevelStates states, ToIntFunction<BlockKey> ofLedger) {
    this.shape = shape;
    this.figures = figures;
    this.states = states;
    this.ofLedger = ofLedger;
  }

  /// Keys of `keys` that can be read now.
  public BitSet visible(List<BlockKey> keys) {
    return present(keys, readablePlaces());
  }

  /// Keys of `keys` that can be read now, from a disk that promises at least `least`; [Durability#VOLATILE] asks for no
  /// disk.
  public BitSet durable(List<BlockKey> keys, Durability least) {
    if (least == Durability.VOLATILE) {
      return visible(keys);
    }
    int places = 0;
    for (int level = 0; level < shape.levels().size(); level++) {
      if (shape.isDisk(level) && shape.store(level).durability().compareTo(least) >= 0) {
        places |= StackShape.place(level);
      }
    }
    return present(keys, places & states.givingPlaces());
  }

  /// Keys of `keys` that are visible and in one of `wanted` places.
  private BitSet present(List<BlockKey> keys, int wanted) {
    PrefixIndex readable = figures.readable();
    if (readable != null) {
      return readable.present(keys, wanted);
    }
    BitSet present = new BitSet(keys.size());
    for (int i = 0; i < keys.size(); i++) {
      present.set(i, (ofLedger.applyAsInt(keys.get(i)) & wanted) != 0);
    }
    return present;
  }

  /// Number of keys at the start of `keys` that can be read now.
  public int visiblePrefix(List<BlockKey> keys) {
    PrefixIndex readable = figures.readable();
    return readable != null ? readable.prefix(keys, readablePlaces()) : prefixPlaces(keys).length;
  }

  /// Places from which the keys at the start of `keys` can be read now.
  private byte[] prefixPlaces(List<BlockKey> keys) {
    PrefixIndex readable = figures.readable();
    int wanted = readablePlaces();
    if (readable != null) {
      return readable.prefixPlaces(keys, wanted);
    }
    byte[] places = new byte[keys.size()];
    int length = 0;
    for (; length < places.length; length++) {
      places[length] = (byte) (ofLedger.applyAsInt(keys.get(length)) & wanted);
      if (places[length] == 0) {
        break;
      }
    }
    return Arrays.copyOf(places, length);
  }

  /// The runs of the prefix of `keys` that can be read now, each from its fastest level.
  public List<BlockTier.Run> runs(List<BlockKey> keys) {
    byte[] places = prefixPlaces(keys);
    List<BlockTier.Run> runs = new ArrayList<>();
    int first = 0;
    for (int i = 1; i <= places.length; i++) {
      int level = shape.levelOf(places[first]);
      if (i == places.length || shape.levelOf(places[i]) != level) {
        runs.add(new BlockTier.Run(level, shape.levels().get(level).name(), i - first));
        first = i;
      }
    }
    return runs;
  }

  /// Number of `keys` that can be read now, and are not in memory.
  public int onSlowerLevels(List<BlockKey> keys) {
    BitSet slower = visible(keys);
    slower.andNot(present(keys, shape.memoryPlace()));
    return slower.cardinality();
  }

  private int readablePlaces() {
    return states.givingPlaces() | shape.memoryPlace();
  }
}
