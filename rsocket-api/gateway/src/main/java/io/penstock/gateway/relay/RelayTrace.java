package io.penstock.gateway.relay;

import io.penstock.gateway.api.TokenCounts;
import java.util.ArrayList;
import java.util.List;

/// What became of one request: for its line in the log, for quotas and for metrics. Written by one thread at a time,
/// read when the request ended.
public final class RelayTrace {
  private final List<String> places = new ArrayList<>(2);
  private int attempts;
  private int resumes;
  private long firstNanos = -1;
  private long events;
  private TokenCounts counts = TokenCounts.NONE;
  private boolean own;

  synchronized void chosen(Chosen chosen) {
    attempts++;
    Object prefill = chosen.prefill();
    places.add(prefill == null ? chosen.decode().name() : prefill + ">" + chosen.decode());
  }

  synchronized void own(boolean answersInOwnForm) {
    own = answersInOwnForm;
  }

  synchronized void resumed() {
    resumes++;
  }

  synchronized void event(long nanos) {
    if (events++ == 0) {
      firstNanos = nanos;
    }
  }

  synchronized void counts(TokenCounts named) {
    counts = named;
  }

  /// Whether the answer comes in the client's own form, and not as a chat. Known when its first event is there.
  public synchronized boolean isOwn() {
    return own;
  }

  /// Instances of the attempts, `prefill>decode` each.
  public synchronized List<String> places() {
    return List.copyOf(places);
  }

  public synchronized int attempts() {
    return attempts;
  }

  public synchronized int resumes() {
    return resumes;
  }

  /// Time from the relay's begin to the first event; -1 if none came.
  public synchronized long firstNanos() {
    return firstNanos;
  }

  /// Number of events.
  public synchronized long events() {
    return events;
  }

  /// The counts of tokens that the engine named.
  public synchronized TokenCounts counts() {
    return counts;
  }
}
