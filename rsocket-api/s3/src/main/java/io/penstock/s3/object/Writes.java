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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/// PUT of objects, and of parts of uploads. What there is no room or time for is accepted and dropped, as a cache may
/// evict at once, with the object that it would have replaced: a client that waits, or that gets an error, would stop
/// using the node.
final class Writes {
  private static final Logger LOG = LoggerFactory.getLogger(Writes.class);
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

  /// Conditions of a request that let it replace what is there.
  ///
  /// @param none `If-None-Match`
  /// @param match `If-Match`
  record Terms(@Nullable String none, @Nullable String match) implements DoorValues.Condition {
    static final Terms NONE = new Terms(null, null);

    private static Terms of(Ask ask) {
      return new Terms(ask.headers().get("If-None-Match"), ask.headers().get("If-Match"));
    }

    /// Whether the request wants no object to be there.
    boolean isNew() {
      return ObjectTag.isAny(none);
    }

    boolean areSome() {
      return none != null || match != null;
    }

    @Override
    public void require(@Nullable BlockHash version) {
      if (match != null && version == null) {
        throw Reads.none();
      }
      boolean isOther = match != null && !ObjectTag.matches(match, version);
      if (isOther || (none != null && ObjectTag.matches(none, version))) {
        throw refused();
      }
    }
  }

  /// Where an object is to be made.
  private record Place(DoorValues values, String name) {}

  Mono<Reply> put(Ask ask, Incoming incoming) {
    Terms terms = Terms.of(ask);
    Mono<Outcome> stored = allowed(ask, terms)
        .then(Mono.defer(() -> store(ask.values(), ask.name(), ask.use(), incoming, terms)));
    return (terms.isNew() ? alone(ask, stored) : stored)
        .map(outcome -> Reply.empty(200).with("ETag", outcome.tag()).with(incoming.compared()));
  }

  /// One at a time for a name: of several that want no object to be there, one stores its own.
  private Mono<Outcome> alone(Ask ask, Mono<Outcome> stored) {
    Place place = new Place(ask.values(), ask.name());
    return Mono.using(() -> {
      if (!creating.add(place)) {
        throw conflict();
      }
      return place;
    }, mine -> stored, creating::remove); // before the response: the client may try again at once
  }

  private static S3Exception conflict() {
    return new S3Exception(S3Code.CONDITIONAL_REQUEST_CONFLICT,
        "object must be made by one request at a time (another makes it now)");
  }

  private static S3Exception refused() {
    return new S3Exception(S3Code.PRECONDITION_FAILED, "object must be as the conditions say (is not)");
  }

  /// Looks before the body is read; the put looks again when it is whole.
  private static Mono<Void> allowed(Ask ask, Terms terms) {
    return terms.areSome()
        ? ask.values().info(ask.name()).singleOptional()
            .doOnNext(there -> terms.require(there.map(ValueStore.Info::version).orElse(null))).then()
        : Mono.empty();
  }

  private enum Fate {
    STORED,
    /// Another writer was first.
    LOST,
    DROPPED
  }

  Mono<Outcome> store(DoorValues values, String name, DoorUses.Use use, Incoming incoming, Terms terms) {
    return Mono.defer(() -> {
      Mono<Fate> stored = isDraining.getAsBoolean()
          ? incoming.bytes().then(Mono.just(Fate.DROPPED))
          : written(values, name, incoming, terms).map(is -> is ? Fate.STORED : Fate.LOST)
              .onErrorResume(KvException.class, failure -> dropped(name, failure).thenReturn(Fate.DROPPED));
      return Mono.firstWithSignal(stored, incoming.givenUp().thenReturn(Fate.DROPPED))
          .flatMap(fate -> incoming.whole().thenReturn(fate));
    }).flatMap(fate -> switch (fate) {
      case STORED -> known(values, name);
      case LOST -> terms.areSome() ? Mono.<Outcome>error(terms.isNew() ? refused() : conflict()) : known(values, name);
      // A new object has none before it; one of another writer stays
      case DROPPED -> terms.isNew() ? Mono.<Outcome>empty() : values.remove(name).then(Mono.<Outcome>empty());
    }).doOnNext(outcome -> {
      use.count(DoorUses.Kind.WRITE);
      use.add(DoorUses.Kind.BYTES_IN, incoming.length());
    }).switchIfEmpty(Mono.fromSupplier(() -> {
      use.count(DoorUses.Kind.DROP);
      return new Outcome(new BlockHash(random.nextLong(), random.nextLong()), false);
    }));
  }

  private static Mono<Boolean> written(DoorValues values, String name, Incoming incoming, Terms terms) {
    DoorValues.Condition condition = terms.areSome() ? terms : DoorValues.ANY;
    return incoming.length() == 0
        ? values.put(name, 0, incoming.bytes(), condition) // which end when the body is verified
        : Mono.using(incoming::filling, filling -> values.put(name, incoming.length(), filling, NEVER, condition),
            Incoming.Filling::dispose);
  }

  /// The value may have been replaced or evicted since it was stored; then any tag will do.
  private static Mono<Outcome> known(DoorValues values, String name) {
    return values.info(name).map(info -> new Outcome(info.version(), true));
  }

  static Mono<Boolean> dropped(String name, KvException failure) {
    if (failure instanceof ValueStore.ValueTooLargeException large) {
      return Mono.error(() -> new S3Exception(S3Code.ENTITY_TOO_LARGE,
          "object must be <= %d bytes, the room of its space (was %d)".formatted(large.mostBytes(), large.length())));
    }
    if (!(failure instanceof TransientKvException)) {
      LOG.warn("an object was dropped: {}", failure.getMessage());
    }
    return Mono.just(false);
  }
}
