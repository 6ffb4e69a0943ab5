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
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/// PUT of objects, and of parts of uploads. What there is no room or time for is accepted and dropped, as a cache may
/// evict at once, with the object that it would have replaced: a client that waits, or that gets an error, would stop
/// using the node.
final class Writes {
  private static final Logger LOG = LoggerFactory.getLogger(Writes.class);
  private static final String NONE_MATCH = "If-None-Match";
  /// When an object ends by itself.
  private static final LongSupplier NEVER = () -> 0;

  private final BooleanSupplier isDraining;
  private final Set<Place> creating = ConcurrentHashMap.newKeySet();
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

  /// Where an object is to be made.
  private record Place(DoorValues values, String name) {}

  Mono<Reply> put(Ask ask, Incoming incoming) {
    boolean isNew = ask.headers().contains(NONE_MATCH);
    Mono<Outcome> stored = allowed(ask)
        .then(Mono.defer(() -> store(ask.values(), ask.name(), ask.use(), incoming, isNew)));
    return (isNew ? alone(ask, stored) : stored)
        .map(outcome -> Reply.empty(200).with("ETag", outcome.tag()).with(incoming.compared()));
  }

  /// One at a time for a name: of several that want no object to be there, one stores its own.
  private Mono<Outcome> alone(Ask ask, Mono<Outcome> stored) {
    Place place = new Place(ask.values(), ask.name());
    return Mono.using(() -> {
      if (!creating.add(place)) {
        throw new S3Exception(S3Code.CONDITIONAL_REQUEST_CONFLICT,
            "object must be made by one request at a time (another makes it now)");
      }
      return place;
    }, mine -> stored, creating::remove); // before the response: the client may try again at once
  }

  private static S3Exception refused() {
    return new S3Exception(S3Code.PRECONDITION_FAILED, "object must be as the conditions say (is not)");
  }

  /// Whether conditions of the request let it replace what is there.
  private static Mono<Void> allowed(Ask ask) {
    String none = ask.headers().get(NONE_MATCH);
    String match = ask.headers().get("If-Match");
    if (none == null && match == null) {
      return Mono.empty();
    }
    return ask.values().info(ask.name()).map(info -> (none == null || !ObjectTag.matches(none, info.version()))
        && (match == null || ObjectTag.matches(match, info.version())))
        .switchIfEmpty(match == null ? Mono.just(true) : Mono.error(Reads::none))
        .flatMap(may -> may
            ? Mono.empty()
            : Mono.error(Writes::refused));
  }

  private enum Fate {
    STORED,
    /// Another writer was first.
    LOST,
    DROPPED
  }

  /// @param isNew whether the request wants no object to be there
  Mono<Outcome> store(DoorValues values, String name, DoorUses.Use use, Incoming incoming, boolean isNew) {
    return Mono.defer(() -> {
      Mono<Fate> stored = isDraining.getAsBoolean()
          ? incoming.bytes().then(Mono.just(Fate.DROPPED))
          : written(values, name, incoming).map(is -> is ? Fate.STORED : Fate.LOST)
              .onErrorResume(KvException.class, failure -> dropped(name, failure).thenReturn(Fate.DROPPED));
      return Mono.firstWithSignal(stored, incoming.givenUp().thenReturn(Fate.DROPPED))
          .flatMap(fate -> incoming.whole().thenReturn(fate));
    }).flatMap(fate -> switch (fate) {
      case STORED -> known(values, name);
      case LOST -> isNew ? Mono.<Outcome>error(Writes::refused) : known(values, name);
      // A new object has none before it; one of another writer stays
      case DROPPED -> isNew ? Mono.<Outcome>empty() : values.remove(name).then(Mono.<Outcome>empty());
    }).doOnNext(outcome -> {
      use.count(DoorUses.Kind.WRITE);
      use.add(DoorUses.Kind.BYTES_IN, incoming.length());
    }).switchIfEmpty(Mono.fromSupplier(() -> {
      use.count(DoorUses.Kind.DROP);
      return new Outcome(new BlockHash(random.nextLong(), random.nextLong()), false);
    }));
  }

  private static Mono<Boolean> written(DoorValues values, String name, Incoming incoming) {
    return incoming.length() == 0
        ? values.put(name, 0, incoming.bytes()) // which end when the body is verified
        : Mono.using(incoming::filling, filling -> values.put(name, incoming.length(), filling, NEVER),
            Incoming.Filling::dispose);
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
