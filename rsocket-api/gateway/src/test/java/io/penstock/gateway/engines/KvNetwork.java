package io.penstock.gateway.engines;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// The keys and values that prefill engines hold and decode engines wait for, by the id of a transfer. A block is the
/// prompt that it was computed from, so that a decode engine sees when it was given blocks of another prompt.
public final class KvNetwork {
  private final Map<String, String> held = new HashMap<>();
  private final Map<String, Sinks.One<String>> readers = new HashMap<>();
  private final Map<String, Sinks.Empty<Void>> places = new HashMap<>();
  private final Set<String> abandoned = new HashSet<>();
  private final Set<String> seen = new HashSet<>();

  /// Prefill has computed a prompt.
  void offer(String transfer, String prompt) {
    Sinks.One<String> reader;
    synchronized (this) {
      reader = readers.remove(transfer);
      if (reader == null && !abandoned.contains(transfer)) {
        held.put(transfer, prompt);
      }
    }
    if (reader != null) {
      reader.tryEmitValue(prompt);
    }
  }

  /// Waits for a prompt and takes it. A reader that goes abandons the transfer.
  Mono<String> receive(String transfer) {
    return Mono.defer(() -> {
      String here;
      Sinks.One<String> reader = Sinks.one();
      synchronized (this) {
        here = held.remove(transfer);
        if (here == null) {
          readers.put(transfer, reader);
        }
      }
      return here != null ? Mono.just(here) : reader.asMono().doOnCancel(() -> abandon(transfer));
    });
  }

  /// Decode has gone: prefill frees what it holds, or will hold.
  synchronized void abandon(String transfer) {
    held.remove(transfer);
    readers.remove(transfer);
    places.remove(transfer);
    abandoned.add(transfer);
  }

  /// Decode reserves blocks.
  void reserve(String transfer) {
    Sinks.Empty<Void> place;
    synchronized (this) {
      place = places.computeIfAbsent(transfer, id -> Sinks.empty());
      seen.add(transfer);
    }
    place.tryEmitEmpty();
  }

  /// Completes when decode has reserved blocks.
  Mono<Void> reserved(String transfer) {
    return Mono.defer(() -> {
      synchronized (this) {
        return places.computeIfAbsent(transfer, id -> Sinks.empty()).asMono();
      }
    });
  }

  synchronized boolean isReserved(String transfer) {
    return seen.contains(transfer) && !abandoned.contains(transfer);
  }

  synchronized boolean holds(@Nullable String transfer) {
    return held.containsKey(transfer);
  }

  /// Prompts that prefill engines hold for readers that have not come.
  public synchronized int held() {
    return held.size();
  }

  /// Readers that wait.
  public synchronized int waiting() {
    return readers.size();
  }
}
