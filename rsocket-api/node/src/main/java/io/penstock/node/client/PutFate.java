package io.penstock.node.client;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.node.link.Answers;
import io.penstock.node.link.NodeLink;
import io.penstock.node.text.Numbers;
import io.penstock.tier.Medium;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt;
import io.penstock.tier.Receipt.Durability;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// What became of the blocks of a put: what their receipts promised, and what is true of them at the end. Keeps 16
/// bytes for each key.
final class PutFate {
  private final SpaceId space;
  private final @Nullable Durability required;
  private final List<Asked> windows = new ArrayList<>();
  private final Map<Durability, Long> promised = new EnumMap<>(Durability.class);
  private long evicted;
  private long less;
  private boolean hasDisk;

  /// Keys of one window.
  ///
  /// @param stored positions of the keys that have a receipt
  private record Asked(List<BlockKey> keys, BitSet stored) {}

  /// The requirement of a put, in JSON.
  ///
  /// @param durability that every block must have at the end
  /// @param less blocks that have less
  record Required(String durability, long less) {}

  /// @param required least promise of every block at the end; null for none
  PutFate(SpaceId space, @Nullable Durability required) {
    this.space = space;
    this.required = required;
  }

  /// Adds the keys of a window and their receipts.
  void add(List<BlockKey> keys, Map<BlockKey, Receipt> receipts) {
    receipts.values().forEach(receipt -> promised.merge(receipt.durability(), 1L, Long::sum));
    ByteBuffer hashes = ByteBuffer.allocate(BlockHash.BYTES * keys.size());
    BitSet stored = new BitSet(keys.size());
    for (int i = 0; i < keys.size(); i++) {
      keys.get(i).hash().write(hashes);
      stored.set(i, receipts.containsKey(keys.get(i)));
    }
    windows.add(new Asked(BlockKey.list(space, hashes.flip()), stored));
  }

  /// Asks the node what it has of the blocks now.
  void ask(NodeLink node, Duration patience) {
    hasDisk = required != null && Answers.of(node.tier().stat(), patience).levels().stream()
        .anyMatch(level -> level.medium() == Medium.DISK);
    for (Asked window : windows) {
      Presence there = Answers.of(node.tier().contains(window.keys()), patience);
      BitSet gone = (BitSet) window.stored().clone();
      gone.andNot(there.bits());
      evicted += gone.cardinality();
      if (required != null) {
        less += window.keys().size() - (required == Durability.VOLATILE
            ? there.count()
            : durable(node, window,
                required, patience));
      }
    }
  }

  private static int durable(NodeLink node, Asked window, Durability least, Duration patience) {
    return Answers.of(node.tier().contains(window.keys(), least), patience).count();
  }

  /// Number of blocks by what their receipts promised.
  Map<String, Long> promised() {
    Map<String, Long> words = new TreeMap<>();
    promised.forEach((durability, blocks) -> words.put(word(durability), blocks));
    return words;
  }

  /// Number of stored blocks that the node no longer had at the end.
  long evicted() {
    return evicted;
  }

  /// Null if nothing was required.
  @Nullable Required required() {
    return required == null ? null : new Required(word(required), less);
  }

  /// How a node is started whose blocks have what was required, as the end of a sentence; empty where the node has no
  /// other reason than room.
  String advice() {
    return switch (required) {
      case WRITTEN -> hasDisk
          ? ": a node writes a block to its disk at once with `penstock serve --stack-mode write_through` alone, else"
              + " when it leaves memory"
          : ": the node has no disk; start it with `penstock serve --ssd SIZE --ssd-dir FOLDER --stack-mode"
              + " write_through`";
      case FORCED ->
        ": a block is forced at once with `penstock serve " + (hasDisk ? "" : "--ssd SIZE --ssd-dir FOLDER ")
            + "--stack-mode write_through --ssd-durability always` alone";
      case VOLATILE -> ": the node has evicted them, for its levels have less room";
      case null -> "";
    };
  }

  /// Whether every block has what was required.
  boolean isAsRequired() {
    return less == 0;
  }

  /// `900 written, 5,204 volatile, 5,592 of them evicted since`; empty if nothing was stored.
  String words() {
    String kinds = promised.entrySet().stream().sorted(Map.Entry.<Durability, Long>comparingByKey().reversed())
        .map(kind -> Numbers.of(kind.getValue()) + " " + word(kind.getKey())).collect(Collectors.joining(", "));
    return evicted == 0 ? kinds : kinds + ", " + Numbers.of(evicted) + " of them evicted since";
  }

  static String word(Durability durability) {
    return durability.name().toLowerCase(Locale.ROOT);
  }
}
