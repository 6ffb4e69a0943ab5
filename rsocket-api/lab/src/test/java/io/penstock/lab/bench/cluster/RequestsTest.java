package io.penstock.lab.bench.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.PrefixHasher;
import io.penstock.node.shape.BlockShape;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

final class RequestsTest {
  private final CacheSpace space = BlockShape.of(4096, 1).space("test");

  @Test
  void onePool_forgetsWhatWasUsedLongestAgo() {
    Requests requests = new Requests(List.of(prompt(1, 2), prompt(3), prompt(1, 2), prompt(4), prompt(3, 4),
        prompt(1, 9, 2)));

    assertThat(requests.hitsOfOneLru(3)).isEqualTo(2); // 1 and 2 once; 3 left when 4 came, and 1 when 3 came back
    assertThat(requests.hitsOfOneLru(100)).isEqualTo(2 + 2 + 1);
    assertThat(requests.blocks()).isEqualTo(11);
    assertThat(requests.distinct()).isEqualTo(5);
  }

  @Test
  void madeTrace_isTheSameForASeed_andHasPrefixesThatComeBack() {
    Requests requests = Requests.of(null, 50, 7, space);

    assertThat(requests.prompts()).hasSize(50).isEqualTo(Requests.of(null, 50, 7, space).prompts());
    assertThat(requests.hitsOfOneLru(Integer.MAX_VALUE)).isPositive();
  }

  private List<BlockKey> prompt(long... ids) {
    return LongStream.of(ids).mapToObj(id -> space.key(PrefixHasher.ofTraceId(id))).toList();
  }
}
