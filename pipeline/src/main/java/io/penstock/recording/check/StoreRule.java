package io.penstock.recording.check;

import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Each operation of a store ends, once.
final class StoreRule implements Rule.Checker {
  private final Set<Operation> open = new HashSet<>();

  private record Operation(int tier, long store, long number) {}

  @Override
  public @Nullable String broken(RecordedEvent event) {
    Kind kind = event.kind();
    if (kind == Kind.OPENED) {
      open.removeIf(operation -> operation.tier() == event.tier());
    } else if (kind == Kind.STORE_PUT || kind == Kind.STORE_READ || kind == Kind.STORE_SHUT) {
      open.add(operation(event));
    } else if ((kind == Kind.STORE_DONE || kind == Kind.STORE_FAILED) && !open.remove(operation(event))) {
      return "an operation of a store must end once (operation %d of store %d ended again, or never began)".formatted(
          event.number(1), event.number(0));
    }
    return null;
  }

  private static Operation operation(RecordedEvent event) {
    return new Operation(event.tier(), event.number(0), event.number(1));
  }
}
