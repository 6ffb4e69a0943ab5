package io.penstock.node.party;

import java.util.List;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/// The reader: leases the blocks of a request and checks every byte.
public interface DecodeParty {
  /// Reads the blocks of `ids` until all were delivered.
  ///
  /// | | |
  /// |---|---|
  /// | order | the node decides at subscription; bytes of hits flow while `supply` works |
  /// | cancel | ends the lease and frees the received blocks |
  /// | signals | [UndeliveredException] when passes run out; a failure of `supply`; the error of the connection |
  ///
  /// @param supply puts the admitted blocks; called as soon as the node answered, once a pass
  /// @return a cold `Mono`; each subscription asks the node
  Mono<Delivery> read(List<Long> ids, Function<Answer, Mono<Void>> supply);

  Mono<PartyStat> stat();
}
