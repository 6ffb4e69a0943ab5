package io.penstock.gateway.choice;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Where the last request of each session went, of the newest sessions. Guarded by its [Router].
final class SessionPlaces {
  private final int most;
  private final Map<String, Place> places = LinkedHashMap.newLinkedHashMap(64);

  /// @param tokens of the prompt of the last request
  record Place(int prefill, int decode, long tokens) {}

  SessionPlaces(int most) {
    this.most = most;
  }

  @Nullable Place of(@Nullable String session) {
    return session == null ? null : places.get(session);
  }

  void put(@Nullable String session, Place place) {
    if (session != null) {
      places.remove(session);
      places.put(session, place);
      if (places.size() > most) {
        places.remove(places.keySet().iterator().next());
      }
    }
  }

  /// Forgets an instance: its blocks went with it.
  void forget(int instance) {
    places.values().removeIf(place -> place.prefill() == instance || place.decode() == instance);
  }

  int size() {
    return places.size();
  }
}
