package io.penstock.node.serve;

import io.penstock.check.InternetAddress;
import io.penstock.wire.transport.NameResolver;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import reactor.core.publisher.Mono;

/// The name of a rank's registry: it logs when the name has moved to other addresses, and when no address is known for
/// it. Each of these lines comes at once, and not again for ten minutes as long as the trouble lasts. Safe from any
/// thread.
final class RegistryName {
  private static final long QUIET_NANOS = Duration.ofMinutes(10).toNanos();

  private final NameResolver names;
  private final Logger log;
  private final LongSupplier nanos;
  private Set<InetAddress> known = Set.of();
  private boolean isUnknown;
  private long unknownSince;

  /// @param names looks the name up
  RegistryName(NameResolver names, Logger log, LongSupplier nanos) {
    this.names = names;
    this.log = log;
    this.nanos = nanos;
  }

  /// A resolver that asks [#names] and watches its answers.
  NameResolver watched() {
    return new NameResolver(host -> names.addresses(host).doOnNext(all -> found(host, all))
        .doOnError(UnknownHostException.class, none -> failed(host)));
  }

  private synchronized void found(String host, List<InetAddress> all) {
    Set<InetAddress> now = Set.copyOf(all);
    if (isUnknown) {
      log.warn("registry {} has an address again: {}", host, text(now));
    } else if (!known.isEmpty() && !known.equals(now)) {
      log.warn("registry {} has moved to {} (was at {})", host, text(now), text(known));
    }
    isUnknown = false;
    known = now;
  }

  private synchronized void failed(String host) {
    long time = nanos.getAsLong();
    if (!isUnknown || time - unknownSince >= QUIET_NANOS) {
      log.warn("no address is known for registry {}: the node keeps trying", host);
      unknownSince = time;
    }
    isUnknown = true;
  }

  private static String text(Set<InetAddress> all) {
    return all.stream().map(InternetAddress::text).sorted().collect(Collectors.joining(", "));
  }
}
