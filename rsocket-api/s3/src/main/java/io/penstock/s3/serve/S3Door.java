package io.penstock.s3.serve;

import io.penstock.node.cli.DataException;
import io.penstock.node.cli.OwnerFile;
import io.penstock.node.config.DoorSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.S3Settings;
import io.penstock.node.config.SecuritySettings;
import io.penstock.node.door.Door;
import io.penstock.node.door.DoorKind;
import io.penstock.node.door.DoorTerms;
import io.penstock.s3.object.Operations;
import io.penstock.s3.sign.AccessKeys;
import io.penstock.s3.sign.Gate;
import io.penstock.wire.security.Reloaded;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The door of S3.
public final class S3Door implements DoorKind {
  private static final Logger LOG = LoggerFactory.getLogger(S3Door.class);
  /// Longest time for the head of a request that has begun.
  private static final Duration HEAD = Duration.ofSeconds(10);
  private static final Duration SWEEP = Duration.ofSeconds(30);

  @Override
  public String name() {
    return DoorSettings.S3.name();
  }

  @Override
  public Mono<Door> open(DoorTerms terms) {
    return Mono.<Door>fromCallable(() -> opened(terms)).subscribeOn(terms.threads().decisions());
  }

  private static S3Server opened(DoorTerms terms) throws IOException {
    NodeConfig config = terms.config();
    Disposable.Composite running = Disposables.composite();
    Optional<Reloaded<AccessKeys>> keys = keys(config);
    keys.ifPresent(file -> running.add(file.every(config.get(SecuritySettings.RELOAD_INTERVAL),
        terms.threads().decisions())));
    Gate gate = new Gate(keys.map(file -> (Supplier<AccessKeys>) file::current).orElse(null),
        terms.clocks().wall());
    AtomicBoolean drains = new AtomicBoolean();
    long mostBytes = config.get(S3Settings.MOST_VALUE);
    Operations operations = new Operations(new Operations.Limits(mostBytes, config.get(S3Settings.UPLOAD),
        config.get(S3Settings.UPLOADS)), terms.tls() == null ? "http" : "https", terms.clocks().wall(),
        terms.threads().decisions(), drains::get);
    running.add(Flux.interval(SWEEP, terms.threads().timers()).onBackpressureDrop()
        .concatMap(tick -> operations.endUploads(false).onErrorResume(failure -> {
          LOG.debug("parts of old uploads are left to eviction", failure);
          return Mono.empty();
        }), 1).subscribe());
    long stall = config.get(NodeSettings.STALL_TIMEOUT).toNanos();
    S3House house = new S3House(gate, operations, terms.spaces(), terms.access(), terms.uses(),
        new S3House.Limits(mostBytes, config.get(S3Settings.ROOM).toNanos(),
            stall, Math.min(HEAD.toNanos(), stall), config.get(S3Settings.CONNECTIONS),
            config.get(S3Settings.DOMAINS), config.get(S3Settings.PREFIX)),
        terms.clocks().nanos(), terms.generation());
    return new S3Server(house, terms, () -> drains.set(true),
        Mono.<Void>fromRunnable(running::dispose).then(operations.endUploads(true)));
  }

  private static Optional<Reloaded<AccessKeys>> keys(NodeConfig config) throws IOException {
    Optional<Path> file = config.get(S3Settings.KEYS);
    try {
      return file.isEmpty()
          ? Optional.empty()
          : Optional.of(Reloaded.read("access keys of the door s3", List.of(file.get()), () -> AccessKeys.parse(
              OwnerFile.lines(S3Settings.KEYS.key(), file.get()), S3Settings.KEYS.key())));
    } catch (IllegalArgumentException e) {
      throw new DataException(String.valueOf(e.getMessage()));
    }
  }
}
