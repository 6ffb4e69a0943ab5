package io.penstock.disagg.plan;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/// All transfers of one request, the number of completions that each side waits for, and the prefill ranks that are
/// never read.
///
/// Transfers to one decode rank stand in the order in which it asks for them; the end of the prompt comes last.
public final class TransferPlan {
  private final Manifest prefill;
  private final Manifest decode;
  private final KvRequest request;
  private final List<Transfer> transfers;
  private final Map<Rank, List<Transfer>> bySource;
  private final Map<Rank, List<Transfer>> byDestination;

  TransferPlan(Manifest prefill, Manifest decode, KvRequest request, List<Transfer> transfers) {
    this.prefill = requireNonNull(prefill, "prefill");
    this.decode = requireNonNull(decode, "decode");
    this.request = requireNonNull(request, "request");
    this.transfers = List.copyOf(transfers);
    this.byDestination = this.transfers.stream().collect(Collectors.groupingBy(Transfer::destination));
    this.bySource = this.transfers.stream().collect(Collectors.groupingBy(Transfer::source));
    bySource.values().forEach(list -> list.sort(Comparator.comparingInt(transfer -> transfer.layers().first())));
  }

  public Manifest prefill() {
    return prefill;
  }

  public Manifest decode() {
    return decode;
  }

  public KvRequest request() {
    return request;
  }

  /// Transfers ordered by the number of the decode rank, then by the order in which it asks.
  public List<Transfer> transfers() {
    return transfers;
  }

  /// Transfers that a decode rank receives, in the order in which it asks.
  public List<Transfer> to(Rank destination) {
    return Collections.unmodifiableList(byDestination.getOrDefault(destination, List.of()));
  }

  /// Transfers that a prefill rank sends, the lowest layers first, as they become ready.
  public List<Transfer> from(Rank source) {
    return Collections.unmodifiableList(bySource.getOrDefault(source, List.of()));
  }

  /// The prefill ranks whose completions a decode rank waits for. Empty: it has nothing to wait for.
  public Set<Rank> senders(Rank destination) {
    return to(destination).stream().map(Transfer::source).collect(Collectors.toCollection(LinkedHashSet::new));
  }

  /// The decode ranks whose completions a prefill rank waits for before it frees its blocks. Empty: it is never pulled.
  public Set<Rank> readers(Rank source) {
    return from(source).stream().map(Transfer::destination).collect(Collectors.toCollection(LinkedHashSet::new));
  }

  /// Prefill ranks that no decode rank reads from, by their numbers. Their blocks are released by [#releaser()].
  public List<Rank> neverPulled() {
    List<Rank> ranks = new ArrayList<>(prefill.parallelism().allRanks());
    ranks.removeAll(bySource.keySet());
    return List.copyOf(ranks);
  }

  /// The decode rank that asks every never-pulled prefill rank, once, to release the request: the first one. A prefill
  /// rank that knows the plan needs no message, since it can see that it is never pulled.
  public Rank releaser() {
    return decode.parallelism().rank(0);
  }
}
