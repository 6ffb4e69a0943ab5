package io.penstock.disagg.recording;

import io.penstock.disagg.RankId;
import io.penstock.disagg.request.LifecycleOptions;
import io.penstock.disagg.request.LifecycleOptions.Lease;
import io.penstock.disagg.request.LifecycleOptions.Patience;
import io.penstock.disagg.request.LifecycleOptions.Signals;
import io.penstock.recording.RecordedEvent;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The texts and numbers of events about requests. A text has a request, and behind line ends what belongs to it; a
/// name has none.
final class RequestWords {
  private static final String BETWEEN = "\n";

  private RequestWords() {}

  /// Times in milliseconds: those of the lease, of patience, of a signal, the tick; tries of a signal.
  static long[] numbers(LifecycleOptions options) {
    Lease lease = options.lease();
    Patience patience = options.patience();
    return Stream.concat(
        Stream.of(lease.life(), lease.longest(), lease.remembered(), patience.bootstrap(), patience.waiting(),
            patience.idle(), patience.drain(), options.signals().timeout(), options.tick()).map(Duration::toMillis),
        Stream.of((long) options.signals().tries())).mapToLong(Long::longValue).toArray();
  }

  static LifecycleOptions options(RecordedEvent event) {
    return new LifecycleOptions(new Lease(millis(event, 0), millis(event, 1), millis(event, 2)),
        new Patience(millis(event, 3), millis(event, 4), millis(event, 5), millis(event, 6)),
        new Signals(Math.toIntExact(event.number(9)), millis(event, 7)), millis(event, 8));
  }

  private static Duration millis(RecordedEvent event, int number) {
    return Duration.ofMillis(event.number(number));
  }

  static String of(String request, String more) {
    return request + BETWEEN + more;
  }

  static String of(String request, Collection<RankId> ranks) {
    return Stream.concat(Stream.of(request), new TreeSet<>(ranks).stream().map(RankId::toString))
        .collect(Collectors.joining(BETWEEN));
  }

  static String request(RecordedEvent event) {
    return parts(event).getFirst();
  }

  /// What stands behind the request.
  static String more(RecordedEvent event) {
    return parts(event).getLast();
  }

  static Set<RankId> ranks(RecordedEvent event) {
    return parts(event).stream().skip(1).map(RequestWords::rank).collect(Collectors.toUnmodifiableSet());
  }

  private static RankId rank(String text) {
    int slash = text.lastIndexOf('/');
    return new RankId(text.substring(0, slash), Integer.parseInt(text.substring(slash + 1)));
  }

  private static List<String> parts(RecordedEvent event) {
    return List.of(event.text().split(BETWEEN, -1));
  }
}
