package io.penstock.s3.object;

import io.penstock.KvException;
import io.penstock.TransientKvException;
import io.penstock.block.BlockHash;
import io.penstock.flow.ValueStore;
import io.penstock.node.door.DoorUses;
import io.penstock.node.door.DoorValues;
import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import java.security.SecureRandom;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/// PUT of objects, and of parts of uploads. What there is no room or time for is accepted and dropped, as a cache may
/// evict at once: a client that waits, or that gets an error, would stop using the node.
final class Writes {
  private static final Logger LOG = LoggerFactory.getLogger(Writes.class);

  private final BooleanSupplier isDraining;
  private final SecureRandom random = new SecureRandom();

  /// @param isDraining whether nothing new is stored
  Writes(BooleanSupplier isDraining) {
    this.isDraining = isDraining;
  }

  /// What became of an object.
  ///
  /// @param version of the value; of nothing if the object was dropped
  /// @param isStored whether there is a value
  record Outcome(BlockHash version, boolean isStored) {
    String tag() {
      return ObjectTag.of(version);
    }
  }

  Mono<Reply> put(Ask ask, Incoming incoming) {
    return allowed(ask).then(Mono.defer(() -> store(ask.values(), ask.name(), ask.use(), incoming)))
        .map(outcome -> Reply.empty(200).with("ETag", outcome.tag()).with(incoming.compared()));
  }

  /// Whether conditions of the request let it replace what is there.
  private static Mono<Void> allowed(Ask ask) {
    String none = ask.headers().get("If-None-Match");
    String match = ask.headers().get("If-Match");
    if (none == null && match == null) {
      return Mono.empty();
    }
    return ask.values().info(ask.name()).map(info -> (none == null || !ObjectTag.matches(none, info.version()))
        && (match == null || ObjectTag.matches(match, info.version()))).defaultIfEmpty(match == null)
        .flatMap(may -> may
            ? Mono.empty()
            : Mono.error(
                () -> new S3Exception(S3Code.PRECONDITION_FAILED, "object must be as the conditions say (is not)")));
  }

  Mono<Outcome> store(DoorValues values, String name, DoorUses.Use use, Incoming incoming) {
    return Mono.defer(() -> {
      Mono<Boolean> stored = isDraining.getAsBoolean()
          ? incoming.bytes().then(Mono.just(false))
          : values.put(name, incoming.length(), incoming.bytes()).thenReturn(true)
              .onErrorResume(KvException.class, failure -> dropped(name, failure));
      return Mono.firstWithSignal(stored, incoming.givenUp())
          .flatMap(is -> incoming.whole().thenReturn(is));
    }).flatMap(is -> is ? known(values, name) : Mono.empty()).doOnNext(outcome -> {
      use.count(DoorUses.Kind.WRITE);
      use.add(DoorUses.Kind.BYTES_IN, incoming.length());
    }).switchIfEmpty(Mono.fromSupplier(() -> {
      use.count(DoorUses.Kind.DROP);
      return new Outcome(new BlockHash(random.nextLong(), random.nextLong()), false);
    }));
  }

  /// The value may have been replaced or evicted since it was stored; then any tag will do.
  private static Mono<Outcome> known(DoorValues values, String name) {
    return values.info(name).map(info -> new Outcome(info.version(), true));
  }

  static Mono<Boolean> dropped(String name, KvException failure) {
    if (failure instanceof ValueStore.ValueTooLargeException) {
      return Mono.error(() -> new S3Exception(S3Code.ENTITY_TOO_LARGE,
          "object must fit in its space (%s)".formatted(failure.getMessage())));
    }
    if (!(failure instanceof TransientKvException)) {
      LOG.warn("an object was dropped: {}", failure.getMessage());
    }
    return Mono.just(false);
  }
}
