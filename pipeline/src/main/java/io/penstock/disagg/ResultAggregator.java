package io.penstock.disagg;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.disagg.KvConnector.Finished;
import io.penstock.disagg.KvConnector.Finished.Kind;
import io.penstock.disagg.KvConnector.Results;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Folds the results of the ranks of an instance: a request has ended when as many distinct ranks have reported it as
/// are expected. A rank counts once for a request; a rank may say that fewer ranks than all report it.
///
/// Reports of a request that is not expected change nothing, so late ones and repeated ones are harmless. Not
/// thread-safe.
public final class ResultAggregator {
  private final int ranks;
  private final Map<Awaited, Reports> awaited = new LinkedHashMap<>();
  private long dropped;

  private record Awaited(Kind kind, String request) {}

  private static final class Reports {
    private final Set<Integer> reported = new HashSet<>();
    private final List<Received> received = new ArrayList<>();
    private int expected;
    private boolean isCorrected;

    Reports(int expected) {
      this.expected = expected;
    }
  }

  /// @param ranks of the instance
  public ResultAggregator(int ranks) {
    this.ranks = Checks.positive("ranks", ranks);
  }

  /// Expects one report from every rank.
  public void expect(Kind kind, String request) {
    awaited.putIfAbsent(new Awaited(requireNonNull(kind, "kind"), request), new Reports(ranks));
  }

  /// Expects no report any more: the engine is done with the request.
  public void forget(Kind kind, String request) {
    awaited.remove(new Awaited(kind, request));
  }

  /// Takes the results of one rank.
  ///
  /// @return what has ended with them, each request once
  public List<Finished> add(int rank, Results results) {
    Checks.within("rank", rank, ranks);
    Map<Awaited, Reports> touched = new HashMap<>();
    results.expected().forEach((request, expected) -> correct(request, expected, touched));
    results.sent().forEach(request -> report(new Awaited(Kind.SENT, request), rank, List.of(), touched));
    results.received()
        .forEach(end -> report(new Awaited(Kind.RECEIVED, end.request()), rank, List.of(end), touched));
    Set<Awaited> ended = new LinkedHashSet<>();
    touched.forEach((one, reports) -> {
      if (reports.reported.size() >= reports.expected) {
        ended.add(one);
      }
    });
    return ended.stream().map(this::finish).toList();
  }

  /// The first correction counts; ranks that say other numbers only raise it: a request never ends before all that
  /// report it have.
  private void correct(String request, int expected, Map<Awaited, Reports> touched) {
    Checks.positive("expected", expected);
    for (Kind kind : Kind.values()) {
      Awaited one = new Awaited(kind, request);
      Reports reports = awaited.get(one);
      if (reports != null) {
        reports.expected = reports.isCorrected ? Math.max(reports.expected, expected) : expected;
        reports.isCorrected = true;
        touched.put(one, reports);
      }
    }
  }

  private void report(Awaited one, int rank, List<Received> ends, Map<Awaited, Reports> touched) {
    Reports reports = awaited.get(one);
    if (reports == null || !reports.reported.add(rank)) {
      dropped++;
      return;
    }
    reports.received.addAll(ends);
    touched.put(one, reports);
  }

  private Finished finish(Awaited one) {
    Reports reports = requireNonNull(awaited.remove(one), "awaited");
    return new Finished(one.kind(), one.request(), reports.received);
  }

  /// Requests that have not ended.
  public int awaited() {
    return awaited.size();
  }

  /// Reports that came late, or twice.
  public long dropped() {
    return dropped;
  }
}
