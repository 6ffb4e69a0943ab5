package io.penstock.node.party;

import java.util.List;

/// Delivery of one request to a decode party, whole and in order.
///
/// @param blocks blocks asked for and delivered
/// @param hits blocks that counted as hits when the node first decided
/// @param prefixHits hits before the first miss
/// @param bytesDelivered payload bytes that arrived, measured; without those of a block cut off in mid-stream, which
///     were sent again
/// @param bytesVerified bytes that were generated again from key, layer and position, and found equal
/// @param corruptBlocks blocks with a byte that differed
/// @param passes number of questions to the node; 1 unless something failed in between
/// @param firstSliceNanos from the question until the first bytes of layer 0, of any block, had been verified
/// @param firstLayerNanos from the question until the first layer of every block had been verified
/// @param lastLayerNanos from the question until everything had been verified
public record Delivery(int blocks, int hits, int prefixHits, long bytesDelivered, long bytesVerified, int corruptBlocks,
    int passes,
    long firstSliceNanos, long firstLayerNanos, long lastLayerNanos) {
  /// Delivery of a request that references no block.
  static final Delivery NOTHING = new Delivery(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  /// The delivery of a request of which this was one part and `next` the part behind it. Times add up, since the parts
  /// come one after another; the first slice is this one's.
  Delivery then(Delivery next) {
    return new Delivery(blocks + next.blocks, hits + next.hits, prefixHits == blocks
        ? blocks + next.prefixHits
        : prefixHits, bytesDelivered + next.bytesDelivered, bytesVerified + next.bytesVerified,
        corruptBlocks + next.corruptBlocks, passes + next.passes - 1, firstSliceNanos,
        lastLayerNanos + next.firstLayerNanos, lastLayerNanos + next.lastLayerNanos);
  }

  /// Delivery of a request from several groups.
  ///
  /// @param hits blocks after which all groups could continue
  /// @param parts of each group; those without a block count for nothing
  static Delivery ofGroups(int blocks, int hits, List<Delivery> parts) {
    List<Delivery> came = parts.stream().filter(part -> part.blocks() > 0).toList();
    return new Delivery(blocks, hits, hits, came.stream().mapToLong(Delivery::bytesDelivered).sum(),
        came.stream().mapToLong(Delivery::bytesVerified).sum(), came.stream().mapToInt(Delivery::corruptBlocks).sum(),
        came.stream().mapToInt(Delivery::passes).max().orElse(0),
        came.stream().mapToLong(Delivery::firstSliceNanos).min().orElse(0),
        came.stream().mapToLong(Delivery::firstLayerNanos).max().orElse(0),
        came.stream().mapToLong(Delivery::lastLayerNanos).max().orElse(0));
  }
}
