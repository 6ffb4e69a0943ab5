package io.penstock.node.plan;

import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.Plane;
import io.penstock.disagg.plan.Extent;
import io.penstock.disagg.plan.KvRequest;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Manifest.Group;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.Rank;
import io.penstock.disagg.plan.Run;
import io.penstock.disagg.plan.TokenPiece;
import io.penstock.disagg.plan.Transfer;
import io.penstock.disagg.plan.TransferPlan;
import io.penstock.flow.PullBlocks;
import java.util.ArrayList;
import java.util.List;

/// A plan in JSON.
///
/// @param section list that the case stands in; empty for a case alone
/// @param number of the case in that list
/// @param transfers by decode rank, then in the order in which it asks
/// @param decodeWaitsFor for each decode rank, the prefill ranks whose completions it waits for
/// @param prefillWaitsFor for each prefill rank, the decode ranks whose completions it waits for
/// @param neverPulled prefill ranks that are never read
/// @param releaser decode rank that asks those to release the request
record PlanDocument(String section, int number, KvRequest request, Side prefill, Side decode, List<Move> transfers,
    List<Completions> decodeWaitsFor, List<Completions> prefillWaitsFor, List<Integer> neverPulled, int releaser) {
  /// @param stageLayers layers of each pipeline stage, without those of a draft model
  record Side(int tp, int pp, int dp, int pcp, int dcp, List<Integer> stageLayers, int draftLayers,
      List<Shape> groups) {
    static Side of(Manifest side) {
      Parallelism ranks = side.parallelism();
      return new Side(ranks.tp(), ranks.pp(), ranks.dp(), ranks.pcp(), ranks.dcp(), side.stageLayers(),
          side.draftLayers(), side.groups().stream().map(Shape::of).toList());
    }
  }

  /// @param layers of the model
  /// @param windowTokens 0 without a sliding window
  /// @param state whether a block is the state of recurrent layers instead of the cache of some tokens
  /// @param planes tensors of a layer
  /// @param blockBytes of a block that no rank splits
  /// @param bytesPerToken over all layers of the group; 0 for a state
  record Shape(List<Integer> layers, int kvHeads, int blockTokens, TokenOrder order, int windowTokens, boolean state,
      List<Plane> planes, int blockBytes, long bytesPerToken) {
    static Shape of(Group group) {
      return new Shape(group.layers(), group.heads(), group.layout().tokens(), group.layout().order(),
          group.windowTokens(), group.isState(), group.layout().planes(), group.layout().blockBytes(),
          group.isState() ? 0 : PlanDocument.bytesPerToken(group));
    }
  }

  /// @param order place among the transfers to the same decode rank
  /// @param source number of a prefill rank
  /// @param destination number of a decode rank
  /// @param modelLayers numbers of the layers in the model
  /// @param layers counted in the group and in the blocks of both sides
  /// @param runs pieces that can be moved as one, by their places in the list
  /// @param bytes of the tokens of all pieces
  /// @param movedBytes of the blocks that a mover asks for: more where the last block is not full
  record Move(int order, int group, int source, int destination, List<Integer> modelLayers, Extent layers, Extent heads,
      List<TokenPiece> pieces, List<Run> runs, long bytes, long movedBytes) {}

  /// @param rank number of the rank that waits
  /// @param name of that rank, such as `pp0.cp0.tp1`
  /// @param from numbers of the ranks of the other side
  record Completions(int rank, String name, int expected, List<Integer> from) {}

  static PlanDocument of(Case one, TransferPlan plan) {
    Parallelism prefill = plan.prefill().parallelism();
    Parallelism decode = plan.decode().parallelism();
    List<Move> moves = new ArrayList<>();
    for (Rank reader : decode.allRanks()) {
      List<Transfer> transfers = plan.to(reader);
      for (int i = 0; i < transfers.size(); i++) {
        Transfer transfer = transfers.get(i);
        moves.add(new Move(i, transfer.group(), prefill.index(transfer.source()), decode.index(reader),
            modelLayers(plan, transfer), transfer.layers(), transfer.heads(), transfer.pieces(), transfer.runs(),
            bytes(plan.prefill(), transfer), movedBytes(plan.prefill(), transfer)));
      }
    }
    return new PlanDocument(one.section(), one.number(), plan.request(), Side.of(plan.prefill()),
        Side.of(plan.decode()), moves,
        decode.allRanks().stream().map(rank -> completions(decode, rank, prefill, List.copyOf(plan.senders(rank))))
            .toList(),
        prefill.allRanks().stream().map(rank -> completions(prefill, rank, decode, List.copyOf(plan.readers(rank))))
            .toList(),
        plan.neverPulled().stream().map(prefill::index).toList(), decode.index(plan.releaser()));
  }

  private static Completions completions(Parallelism side, Rank rank, Parallelism other, List<Rank> from) {
    return new Completions(side.index(rank), rank.toString(), from.size(), from.stream().map(other::index).toList());
  }

  static List<Integer> modelLayers(TransferPlan plan, Transfer transfer) {
    Extent layers = transfer.layers();
    return plan.prefill().groups().get(transfer.group()).layers().subList(layers.first(), layers.end());
  }

  /// Bytes of one token of a prompt over all layers of a group.
  static long bytesPerToken(Group group) {
    return group.layout().blockBytes() / group.layout().tokens();
  }

  static long bytes(Manifest side, Transfer transfer) {
    return side.bytes(transfer, transfer.tokens());
  }

  static long movedBytes(Manifest side, Transfer transfer) {
    return side.bytes(transfer, PullBlocks.movedTokens(transfer));
  }
}
