package io.penstock.node.client;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.node.content.BlockInput;
import io.penstock.node.link.Answers;
import io.penstock.node.link.NodeLink;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierHolds.PutTerms;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/// Result of a window of blocks that was put into a node. A key in neither collection has a block that another client
/// is writing.
///
/// @param receipts by key, in the order of the keys
/// @param present keys whose blocks the node had already: nothing was sent
record WindowPut(Map<BlockKey, Receipt> receipts, Set<BlockKey> present) {

  /// The receipts of blocks that are put without a pin and a group.
  static Map<BlockKey, Receipt> store(NodeLink node, List<BlockKey> keys, BlockInput input, Duration patience) {
    return store(node, keys, PutTerms.plain(), input, patience).receipts;
  }

  /// @param keys as `input` answered them just now
  static WindowPut store(NodeLink node, List<BlockKey> keys, PutTerms terms, BlockInput input, Duration patience) {
    try (BlockScope scope = new BlockScope()) {
      Reservation reservation = Answers.of(node.tier().reserve(keys, terms, scope), patience);
      int index = 0;
      for (BlockDraft draft : reservation.drafts()) { // in the order of the keys, without those skipped
        while (!keys.get(index).equals(draft.key())) {
          index++;
        }
        input.fill(index, draft);
        draft.produced(GranuleRange.all(draft.layout()));
      }
      Map<BlockKey, Receipt> receipts = new LinkedHashMap<>();
      if (!reservation.drafts().isEmpty()) {
        Answers.of(reservation.commit(reservation.drafts()), patience)
            .forEach(receipt -> receipts.put(receipt.key(), receipt));
      }
      return new WindowPut(receipts,
          reservation.duplicates().bits().stream().mapToObj(keys::get).collect(Collectors.toSet()));
    }
  }
}
