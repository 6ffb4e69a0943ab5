package io.penstock.wire.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.testkit.Blocks;
import io.penstock.tier.TierHolds.BlockTokens;
import io.penstock.tier.TierHolds.PutTerms;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Token ids in the first message of a put.
final class PutTokensTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final List<BlockKey> KEYS = Blocks.keys(SPACE, 0, 3);
  private static final int[] IDS = {1, 2, 128_000, 4, Integer.MAX_VALUE, 0};
  private static final BlockHash BEFORE = new BlockHash(7, 8);
  private static final int MAX_KEYS = 100;

  private static PutMessages.PutRequest request(PutTerms terms) {
    return PutMessages.PutRequest.of(Messages.Keys.of(KEYS), 4096, 4, 7, terms,
        PutMessages.Tokens.of(KEYS, terms.tokens(), MAX_KEYS));
  }

  private static PutMessages.PutRequest travelled(ControlCodec codec, PutMessages.PutRequest request) {
    ByteBuf bytes = codec.encode(request, UnpooledByteBufAllocator.DEFAULT);
    try {
      return codec.decode(bytes, PutMessages.PutRequest.class);
    } finally {
      bytes.release();
    }
  }

  @ParameterizedTest
  @EnumSource(ControlCodec.class)
  void tokens_travel(ControlCodec codec) {
    PutTerms sent = PutTerms.plain().withGroup("g").withTokens(BlockTokens.of(BEFORE, KEYS, IDS));
    PutTerms terms = travelled(codec, request(sent)).terms(KEYS, 2, MAX_KEYS);
    assertThat(terms.group()).isEqualTo("g");
    assertThat(terms.tokens().keySet()).containsExactlyElementsOf(KEYS);
    assertThat(terms.tokens().values()).extracting(BlockTokens::parent)
        .containsExactly(BEFORE, KEYS.get(0).hash(), KEYS.get(1).hash());
    assertThat(terms.tokens().values()).extracting(BlockTokens::ids)
        .containsExactly(new int[] {1, 2}, new int[] {128_000, 4}, new int[] {Integer.MAX_VALUE, 0});
  }

  @ParameterizedTest
  @EnumSource(ControlCodec.class)
  void requestWithoutTokens_hasNoSuchField(ControlCodec codec) {
    ByteBuf bytes = codec.encode(request(PutTerms.plain()), UnpooledByteBufAllocator.DEFAULT);
    assertThat(bytes.toString(StandardCharsets.ISO_8859_1)).contains("outcomes").doesNotContain("tokens");
    bytes.release();
    assertThat(travelled(codec, request(PutTerms.plain())).terms(KEYS, 2, MAX_KEYS).tokens()).isEmpty();
  }

  @Test
  void lengthsThatDoNotFitTheKeys_areRefusedNamingTheField() {
    assertRefused("tokens.parents", new byte[32], new byte[24]);
    assertRefused("tokens.parents", new byte[64], new byte[24]);
    assertRefused("tokens.parents", new byte[47], new byte[24]);
    assertRefused("tokens.ids", new byte[48], new byte[23]);
    assertRefused("tokens.ids", new byte[48], new byte[0]);
    assertRefused("tokens.ids", new byte[48], new byte[20]);
    assertRefused("tokens.ids", new byte[48], new byte[28]);
    assertRefused("tokens.ids", new byte[48], new byte[1 << 20]);
  }

  private static void assertRefused(String field, byte[] parents, byte[] ids) {
    assertThatThrownBy(() -> new PutMessages.PutRequest(Messages.Keys.of(KEYS), 4096, 4, 7, null, null, null, true,
        new PutMessages.Tokens(parents, ids)).terms(KEYS, 2, MAX_KEYS))
        .isInstanceOfSatisfying(WireFormatException.class, e -> {
          assertThat(e.field()).isEqualTo(field);
          assertThat(e.code()).isEqualTo(ErrorCode.BAD_REQUEST);
        });
  }

  @Test
  void tokensBeyondTheLongestMessage_areRefused_beforeTheyAreSentAndWhenTheyCome() {
    Map<BlockKey, BlockTokens> tokens = BlockTokens.of(BEFORE, KEYS, IDS);
    PutMessages.PutRequest request = request(PutTerms.plain().withTokens(tokens));
    assertThat(request.terms(KEYS, 2, 8).tokens()).hasSize(3); // 3 × (16 + 16 + 8) bytes are 7.5 keys
    assertThatThrownBy(() -> request.terms(KEYS, 2, 7)).isInstanceOfSatisfying(WireFormatException.class,
        e -> assertThat(e.code()).isEqualTo(ErrorCode.LIMIT_EXCEEDED));
    assertThatThrownBy(() -> PutMessages.Tokens.of(KEYS, tokens, 7)).isInstanceOf(IllegalArgumentException.class)
        .hasMessage("tokens must be <= 112 bytes with keys and parents (was 120); put fewer blocks at once");
  }

  @Test
  void tokensThatAreNotOfEveryKey_areRefusedBeforeTheyAreSent() {
    Map<BlockKey, BlockTokens> two = BlockTokens.of(BEFORE, KEYS.subList(0, 2), new int[] {1, 2, 3, 4});
    assertThatThrownBy(() -> PutMessages.Tokens.of(KEYS, two, MAX_KEYS)).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("tokens must be of every key of the put (was none of " + KEYS.get(2));
    assertThatThrownBy(() -> BlockTokens.of(BEFORE, KEYS, new int[] {1, 2}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("ids must be equally many for each of 3 keys (was 2)");
  }
}
