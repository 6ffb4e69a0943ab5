package io.penstock.disagg.plan;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/// The blocks of one side of a request as plain arrays, one for each rank, group and block: an element-wise reference
/// for whatever moves bytes by a plan.
final class Shards {
  static final long NOTHING = -1;

  private final Manifest side;
  private final Map<Rank, long[][][]> blocks = new HashMap<>();

  private Shards(Manifest side) {
    this.side = side;
  }

  static Shards empty(Manifest side, int promptTokens) {
    Shards shards = new Shards(side);
    for (Rank rank : side.parallelism().allRanks()) {
      long[][][] groups = new long[side.groups().size()][][];
      for (int group = 0; group < groups.length; group++) {
        int size = side.rankLayout(group, rank).map(Shards::elements).orElse(0);
        groups[group] = new long[side.rankBlocks(group, rank, promptTokens)][size];
        for (long[] block : groups[group]) {
          Arrays.fill(block, NOTHING);
        }
      }
      shards.blocks.put(rank, groups);
    }
    return shards;
  }

  /// What the ranks of a side keep when they have computed the tokens from `from` to `to` of a group: every element says
  /// which one of the model it is.
  Shards computed(int group, int from, int to) {
    HeadShards heads = side.heads(group);
    int tokens = side.groups().get(group).layout().tokens();
    for (Rank rank : side.parallelism().allRanks()) {
      int first = side.firstLayer(group, rank.stage());
      for (int token = from; token < to; token++) {
        int block = token / tokens;
        if (block % side.parallelism().contextRanks() != side.parallelism().contextRank(rank)) {
          continue;
        }
        for (int layer = first; layer < side.firstLayer(group, rank.stage() + 1); layer++) {
          for (int head = heads.first(rank.tp()); head < heads.end(rank.tp()); head++) {
            for (int plane = 0; plane < 2; plane++) {
              for (int i = 0; i < 2; i++) {
                put(rank, group, block / side.parallelism().contextRanks(), layer - first, plane,
                    head - heads.first(rank.tp()), token % tokens, i,
                    (((layer * 8L + head) * 2 + plane) * 2 + i) * 1000 + token);
              }
            }
          }
        }
      }
    }
    return this;
  }

  /// Gathers from the source and scatters into this side what a transfer says.
  void move(Transfer transfer, Shards source) {
    for (TokenPiece piece : transfer.pieces()) {
      for (int token = 0; token < piece.tokens(); token++) {
        for (int layer = 0; layer < transfer.layers().count(); layer++) {
          for (int head = 0; head < transfer.heads().count(); head++) {
            for (int plane = 0; plane < 2; plane++) {
              for (int i = 0; i < 2; i++) {
                long value = source.get(transfer.source(), transfer.group(), piece.sourceBlock(),
                    transfer.layers().atSource() + layer, plane, transfer.heads().atSource() + head,
                    piece.sourceToken() + token, i);
                put(transfer.destination(), transfer.group(), piece.destinationBlock(),
                    transfer.layers().atDestination() + layer, plane, transfer.heads().atDestination() + head,
                    piece.destinationToken() + token, i, value);
              }
            }
          }
        }
      }
    }
  }

  private void put(Rank rank, int group, int block, int layer, int plane, int head, int token, int i, long value) {
    long[] memory = memory(rank, group, block);
    int at = index(rank, group, layer, plane, head, token, i);
    if (memory[at] != NOTHING) {
      throw new AssertionError("%s group %d block %d layer %d head %d token %d came twice"
          .formatted(rank, group, block, layer, head, token));
    }
    memory[at] = value;
  }

  private long get(Rank rank, int group, int block, int layer, int plane, int head, int token, int i) {
    long value = memory(rank, group, block)[index(rank, group, layer, plane, head, token, i)];
    if (value == NOTHING) {
      throw new AssertionError("%s group %d block %d layer %d head %d token %d has nothing"
          .formatted(rank, group, block, layer, head, token));
    }
    return value;
  }

  private long[] memory(Rank rank, int group, int block) {
    return blocks.get(rank)[group][block];
  }

  private int index(Rank rank, int group, int layer, int plane, int head, int token, int i) {
    BlockLayout layout = side.rankLayout(group, rank).orElseThrow();
    int heads = side.heads(group).count(rank.tp());
    int row = layout.order() == TokenOrder.NHD ? token * heads + head : head * layout.tokens() + token;
    return ((layer * 2 + plane) * layout.tokens() * heads + row) * 2 + i;
  }

  private static int elements(BlockLayout layout) {
    return layout.layers() * layout.tokens() * layout.planes().getFirst().heads() * 4;
  }

  boolean sameAs(Shards other) {
    return blocks.entrySet().stream()
        .allMatch(entry -> Arrays.deepEquals(entry.getValue(), other.blocks.get(entry.getKey())));
  }
}
