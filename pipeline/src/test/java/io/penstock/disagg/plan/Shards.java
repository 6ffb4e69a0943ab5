package io.penstock.disagg.plan;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/// The blocks of one side of a request as plain arrays, one for each rank, group and block: an element-wise reference
/// for whatever moves bytes by a plan.
final class Shards {
  private static final int NOTHING = -1;

  private final Manifest side;
  private final Map<Rank, List<Shard>> ranks = new HashMap<>();

  /// The blocks of one rank and group.
  ///
  /// @param layer first layer
  /// @param head first head
  private record Shard(int layer, int layers, int head, int heads, int tokens, boolean byToken, int[][] blocks) {
    static Shard of(Manifest side, int group, Rank rank, int promptTokens) {
      BlockLayout layout = side.groups().get(group).layout();
      HeadShards heads = side.heads(group);
      int first = side.firstLayer(group, rank.stage());
      int layers = side.firstLayer(group, rank.stage() + 1) - first;
      int[][] blocks = new int[side.rankBlocks(group, rank, promptTokens)][layers * 2 * layout.tokens()
          * heads.count(rank.tp())];
      for (int[] block : blocks) {
        Arrays.fill(block, NOTHING);
      }
      return new Shard(first, layers, heads.first(rank.tp()), heads.count(rank.tp()), layout.tokens(),
          layout.order() == TokenOrder.NHD, blocks);
    }

    /// Element of one of two planes of width 1.
    private int index(int atLayer, int plane, int atHead, int token) {
      return (atLayer * 2 + plane) * tokens * heads + (byToken ? token * heads + atHead : atHead * tokens + token);
    }

    void put(int block, int atLayer, int plane, int atHead, int token, int value) {
      int[] memory = blocks[block];
      int at = index(atLayer, plane, atHead, token);
      if (memory[at] != NOTHING) {
        throw new AssertionError("block %d layer %d head %d token %d came twice"
            .formatted(block, atLayer, atHead, token));
      }
      memory[at] = value;
    }

    int get(int block, int atLayer, int plane, int atHead, int token) {
      int value = blocks[block][index(atLayer, plane, atHead, token)];
      if (value == NOTHING) {
        throw new AssertionError("block %d layer %d head %d token %d has nothing"
            .formatted(block, atLayer, atHead, token));
      }
      return value;
    }
  }

  private Shards(Manifest side) {
    this.side = side;
  }

  static Shards empty(Manifest side, int promptTokens) {
    Shards shards = new Shards(side);
    for (Rank rank : side.parallelism().allRanks()) {
      shards.ranks.put(rank, IntStream.range(0, side.groups().size())
          .mapToObj(group -> Shard.of(side, group, rank, promptTokens)).toList());
    }
    return shards;
  }

  /// What the ranks of a side keep when they have computed the tokens from `from` to `to` of a group: every element
  /// says which one of the model it is.
  Shards computed(int group, int from, int to) {
    int contextRanks = side.parallelism().contextRanks();
    ranks.forEach((rank, groups) -> {
      Shard shard = groups.get(group);
      for (int token = from; token < to; token++) {
        int block = token / shard.tokens;
        for (int i = 0; block % contextRanks == side.parallelism().contextRank(rank) && i < shard.layers * shard.heads
            * 2; i++) {
          int layer = i / 2 / shard.heads;
          int head = i / 2 % shard.heads;
          shard.put(block / contextRanks, layer, i % 2, head, token % shard.tokens,
              (((shard.layer + layer) * 8 + shard.head + head) * 2 + i % 2) * 1000 + token);
        }
      }
    });
    return this;
  }

  /// Gathers from the source and scatters into this side what a transfer says.
  void move(Transfer transfer, Shards source) {
    Shard from = source.ranks.get(transfer.source()).get(transfer.group());
    Shard to = ranks.get(transfer.destination()).get(transfer.group());
    Extent layers = transfer.layers();
    Extent heads = transfer.heads();
    for (TokenPiece piece : transfer.pieces()) {
      for (int i = 0; i < layers.count() * heads.count() * piece.tokens() * 2; i++) {
        int token = i / 2 % piece.tokens();
        int head = i / 2 / piece.tokens() % heads.count();
        int layer = i / 2 / piece.tokens() / heads.count();
        int value = from.get(piece.sourceBlock(), layers.atSource() + layer, i % 2, heads.atSource() + head,
            piece.sourceToken() + token);
        to.put(piece.destinationBlock(), layers.atDestination() + layer, i % 2, heads.atDestination() + head,
            piece.destinationToken() + token, value);
      }
    }
  }

  boolean sameAs(Shards other) {
    return ranks.entrySet().stream().allMatch(entry -> IntStream.range(0, entry.getValue().size()).allMatch(
        group -> Arrays.deepEquals(entry.getValue().get(group).blocks,
            other.ranks.get(entry.getKey()).get(group).blocks)));
  }
}
