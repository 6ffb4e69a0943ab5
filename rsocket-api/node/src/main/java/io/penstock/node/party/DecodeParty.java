package io.penstock.node.party;

import java.util.List;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/// Who reads: leases the blocks of a request and proves every byte.
public interface DecodeParty {
  /// Reads the blocks of `ids` until all were delivered.
  ///
  /// | | |
  /// |---|---|
  /// | order | the node decides at subscription; bytes of hits flow while `supply` works |
  /// | cancel | ends the lease and frees what was received |
  /// | signals | [UndeliveredException] when passes run out; a failure of `supply`; what the connection fails with |
  ///
  /// @param supply sees to it that the admitted blocks are put; called as soon as the node answered, once a pass
  /// @return a cold `Mono`; each subscription asks the node
  Mono<Delivery> read(List<Long> ids, Function<Answer, Mono<Void>> supply);

  Mono<PartyStat> stat();
}
