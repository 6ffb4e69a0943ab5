package io.penstock.s3.object;

import io.penstock.flow.ValueStore;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The object in the body of a request, as it comes.
public interface Incoming {
  /// Length of the object in bytes.
  long length();

  /// Its bytes, written where they are to lie as there is memory for them. The last part of the value ends when the
  /// body is whole and verified. Instead of [#bytes()], and once.
  ///
  /// @return is to be disposed; what is left of the body then is read and dropped
  Filling filling();

  /// A source that writes a value.
  interface Filling extends ValueStore.Filling, Disposable {}

  /// Its bytes, for one subscriber, each element valid until the next is requested. Ends with an error if the body is
  /// not whole, or not the one that the client sent. The rest of a body whose reader cancels is read and dropped.
  Flux<MemorySegment> bytes();

  /// Emits false once the reader took so long, all in all, that the object is to be let go.
  Mono<Boolean> givenUp();

  /// Completes when the body came whole and has the checksums that its client sent; else signals why not.
  Mono<Void> whole();

  /// Headers with the checksums that were compared; after [#whole()].
  Map<String, String> compared();
}
