package io.penstock.disagg.plan;

import io.penstock.check.Checks;
import java.util.List;

/// Chooses one of several equal copies of a head for a decode rank to read from.
@FunctionalInterface
public interface ReplicaChoice {
  /// @param reader copy of the head on the decode side, in `[0, readers)`
  /// @param readers copies of the head on the decode side
  /// @param copies of the head on the prefill side
  /// @return in `[0, copies)`
  int choose(int reader, int readers, int copies);

  /// Chooses by the id of the request alone, equally on both sides; requests are spread over the copies. Equal numbers
  /// of copies map one to one, so that neighbours stay neighbours.
  static ReplicaChoice byRequest(String requestId) {
    return new RequestReplicas(requestId);
  }

  /// Gives the copies to readers by turns.
  static ReplicaChoice inTurn() {
    return (reader, readers, copies) -> reader % copies;
  }

  /// Copies that were chosen elsewhere: reader `k` reads from the k-th of them.
  static ReplicaChoice given(List<Integer> chosen) {
    List<Integer> fixed = List.copyOf(chosen);
    return (reader, readers, copies) -> {
      int copy = fixed.get(reader % fixed.size());
      Checks.within("copy", copy, copies);
      return copy;
    };
  }

  /// Chooses as layer-wise push does: requests of a batch use as many copies as there are readers, by turns.
  ///
  /// @param request position of the request in its batch
  static ReplicaChoice byBatch(int request) {
    Checks.notNegative("request", request);
    return (reader, readers, copies) -> request % Math.max(1, copies / readers) * readers % copies + reader % copies;
  }
}
