package io.penstock.node.plan;

import io.penstock.disagg.plan.Extent;
import io.penstock.disagg.plan.KvRequest;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.Rank;
import io.penstock.disagg.plan.Run;
import io.penstock.disagg.plan.TokenPiece;
import io.penstock.disagg.plan.Transfer;
import io.penstock.disagg.plan.TransferPlan;
import java.util.ArrayList;
import java.util.List;

/// A plan for machines.
///
/// @param transfers by decode rank, then in the order in which it asks
/// @param decodeWaitsFor for each decode rank, the prefill ranks whose completions it waits for
/// @param prefillWaitsFor for each prefill rank, the decode ranks whose completions it waits for
/// @param neverPulled prefill ranks that nothing is read from
/// @param releaser decode rank that tells those to release the request
record PlanDocument(KvRequest request, Parallelism prefill, Parallelism decode, List<Move> transfers,
    List<Completions> decodeWaitsFor, List<Completions> prefillWaitsFor, List<Integer> neverPulled, int releaser) {
  /// @param order place among the transfers to the same decode rank
  /// @param source number of a prefill rank
  /// @param destination number of a decode rank
  /// @param runs pieces that can be moved as one, by their places in the list
  /// @param bytes that are moved
  record Move(int order, int group, int source, int destination, Extent layers, Extent heads, List<TokenPiece> pieces,
      List<Run> runs, long bytes) {}

  /// @param rank that waits
  /// @param from numbers of the ranks of the other side
  record Completions(int rank, int expected, List<Integer> from) {}

  static PlanDocument of(TransferPlan plan) {
    Parallelism prefill = plan.prefill().parallelism();
    Parallelism decode = plan.decode().parallelism();
    List<Move> moves = new ArrayList<>();
    for (Rank reader : decode.allRanks()) {
      List<Transfer> transfers = plan.to(reader);
      for (int i = 0; i < transfers.size(); i++) {
        Transfer transfer = transfers.get(i);
        moves.add(new Move(i, transfer.group(), prefill.index(transfer.source()), decode.index(reader),
            transfer.layers(), transfer.heads(), transfer.pieces(), transfer.runs(), bytes(plan.prefill(), transfer)));
      }
    }
    return new PlanDocument(plan.request(), prefill, decode, moves,
        decode.allRanks().stream().map(rank -> completions(decode, rank, prefill, List.copyOf(plan.senders(rank))))
            .toList(),
        prefill.allRanks().stream().map(rank -> completions(prefill, rank, decode, List.copyOf(plan.readers(rank))))
            .toList(),
        plan.neverPulled().stream().map(prefill::index).toList(), decode.index(plan.releaser()));
  }

  private static Completions completions(Parallelism side, Rank rank, Parallelism other, List<Rank> from) {
    return new Completions(side.index(rank), from.size(), from.stream().map(other::index).toList());
  }

  static long bytes(Manifest side, Transfer transfer) {
    long perToken = side.groups().get(transfer.group()).layout().planes().stream()
        .mapToLong(plane -> (long) plane.width() * plane.type().bytes()).sum();
    return perToken * transfer.tokens() * transfer.layers().count() * transfer.heads().count();
  }
}
