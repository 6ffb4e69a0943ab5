package io.penstock.node.tiers;

import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.Script;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/// Stands before a recording: names spaces of tenants by stand-ins, since the id of such a space is as secret as its
/// salt, and tells of events after which an operator wants to see what came before.
final class RecordingGuard implements Script {
  /// Errors that are the node's own: no client causes them.
  private static final Set<String> OWN_ERRORS = Set.of("BlockCorruptException", "IllegalStateException",
      "NullPointerException", "IndexOutOfBoundsException", "ClassCastException", "AssertionError", "OutOfMemoryError");

  private final Script script;
  private final Consumer<String> trouble;
  private final Map<SpaceId, SpaceId> standIns = new ConcurrentHashMap<>();

  /// @param trouble hears of each event that is one, in a few words
  RecordingGuard(Script script, Consumer<String> trouble) {
    this.script = script;
    this.trouble = trouble;
  }

  /// Calls the blocks of `space` those of `named` from now on.
  void rename(SpaceId space, SpaceId named) {
    standIns.put(space, named);
  }

  @Override
  public void add(RecordedEvent event) {
    RecordedEvent shown = renamed(event);
    script.add(shown);
    String words = troubleOf(shown);
    if (words != null) {
      trouble.accept(words);
    }
  }

  private RecordedEvent renamed(RecordedEvent event) {
    if (standIns.isEmpty()) {
      return event;
    }
    // Errors and reasons may name a block
    RecordedEvent named = event.text().isEmpty() ? event : event.withText(renamed(event.text()));
    SpaceId standIn = event.keys().isEmpty() ? null : standIns.get(event.keys().getFirst().space());
    return standIn == null
        ? named
        : named.withKeys(event.keys().stream().map(key -> new BlockKey(standIn, key.hash())).toList());
  }

  private String renamed(String text) {
    String named = text;
    for (Map.Entry<SpaceId, SpaceId> each : standIns.entrySet()) {
      named = named.replace(each.getKey().toString(), each.getValue().toString());
    }
    return named;
  }

  private static @Nullable String troubleOf(RecordedEvent event) {
    return switch (event.kind()) {
      case STORE_DAMAGED, NOT_INTACT -> "a store found a block damaged";
      case LEVEL_DOWN -> "a level went down: " + event.text();
      case BROKEN -> event.text();
      case FAILED -> OWN_ERRORS.contains(name(event.text())) ? event.text() : null;
      default -> null;
    };
  }

  private static String name(String error) {
    int colon = error.indexOf(':');
    return colon < 0 ? error : error.substring(0, colon);
  }

  @Override
  public boolean hasEnded() {
    return script.hasEnded();
  }

  @Override
  public boolean keepsPayloads() {
    return script.keepsPayloads();
  }

  @Override
  public long keep(Payload payload, MemorySegment bytes) {
    SpaceId named = standIns.get(payload.key().space());
    return script.keep(named == null
        ? payload
        : new Payload(new BlockKey(named, payload.key().hash()), payload.checksum(), payload.first(), payload.stored()),
        bytes);
  }

  @Override
  public boolean isFull() {
    return script.isFull();
  }

  @Override
  public Disposable whenRoom(Runnable work) {
    return script.whenRoom(work);
  }
}
