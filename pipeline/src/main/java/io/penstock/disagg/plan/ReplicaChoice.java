package io.penstock.disagg.plan;

import io.penstock.check.Checks;
import java.util.List;

/// From which of several equal copies of a head a decode rank reads.
@FunctionalInterface
public interface ReplicaChoice {
  /// @param reader copy of the head on the decode side, in `[0, readers)`
  /// @param readers copies of the head on the decode side
  /// @param copies of the head on the prefill side
  /// @return in `[0, copies)`
  int choose(int reader, int readers, int copies);

  /// The same on both sides by the id of the request alone, and spread over the copies from request to request. Equal
  /// numbers of copies meet one to one, so that neighbours stay neighbours.
  static ReplicaChoice byRequest(String requestId) {
    return new RequestReplicas(requestId);
  }

  /// Readers take the copies in turn.
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

  /// As layer-wise push chooses: requests of a batch take as many copies as there are readers, in turn.
  ///
  /// @param request position of the request in its batch
  static ReplicaChoice byBatch(int request) {
    Checks.notNegative("request", request);
    return (reader, readers, copies) -> request % Math.max(1, copies / readers) * readers % copies + reader % copies;
  }
}
