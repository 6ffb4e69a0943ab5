package io.penstock.wire.server.space;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.SpaceId;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierListener;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.StatMessages;
import io.penstock.wire.server.call.Call;
import io.penstock.wire.server.call.RequestRights;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What a node with several spaces tells of them.
final class ServedSpacesTest {
  private static final BlockLayout LAYOUT = Blocks.smallSpace().layout();
  private static final CacheSpace OPEN = new CacheSpace("model", LAYOUT, 0, "");
  private static final CacheSpace SECRET = new CacheSpace("model", LAYOUT, 0, "salt");

  private final List<BlockTier> tiers = List.of(tier("open", OPEN), tier("tenant", SECRET));
  private final ServedSpaces routes = new ServedSpaces(NodeSpaces.of(tiers), new Limits(1 << 20, 8, 64));

  private static BlockTier tier(String name, CacheSpace space) {
    return new HostTier(space, 4, StackOptions.defaults(name), TierListener.noop());
  }

  @AfterEach
  void close() {
    tiers.forEach(tier -> tier.close().block(Duration.ofSeconds(5)));
  }

  @Test
  void refusal_namesASpaceWithASalt_butNotItsId() {
    String open = "" + OPEN.id();
    String secret = "" + SECRET.id();
    SpaceId other = new CacheSpace("other", LAYOUT, 0, "").id();
    Call get = new Call(Routes.GET, ControlCodec.CBOR, Unpooled.EMPTY_BUFFER, ByteBufAllocator.DEFAULT, null,
        new RequestRights());
    assertThatThrownBy(() -> routes.of(get, "keys.space", other)).hasMessageContaining("tenant")
        .hasMessageContaining(open)
        .hasMessageNotContaining(secret);
  }

  @Test
  void figures_tellNoIdOfASpaceWithASalt() {
    List<StatMessages.SpaceFigures> figures = tiers.stream()
        .map(tier -> StatMessages.SpaceFigures.of(tier.info(),
            tier.stat().blockOptional(Duration.ofSeconds(5)).orElseThrow()))
        .toList();
    assertThat(figures).extracting(StatMessages.SpaceFigures::space).containsExactly("" + OPEN.id(), "");
    assertThat(figures).extracting(StatMessages.SpaceFigures::tier).containsExactly("open", "tenant");
  }
}
