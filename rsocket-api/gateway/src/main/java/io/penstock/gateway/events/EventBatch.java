package io.penstock.gateway.events;

import java.util.List;

/// The events of one message.
///
/// @param rank data-parallel rank of the engine; 0 if the message names none
record EventBatch(List<EngineEvent> events, int rank) {
  EventBatch {
    events = List.copyOf(events);
  }
}
