package io.penstock.gateway.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.URI;
import org.junit.jupiter.api.Test;

class EngineAddressTest {
  @Test
  void settingsStandInTheFragment() {
    EngineAddress engine = EngineAddress.parse("http://10.0.0.1:8100/#dialect=mooncake&bootstrap-port=9000");
    assertThat(engine.url()).isEqualTo(URI.create("http://10.0.0.1:8100"));
    assertThat(engine.dialect()).contains(DialectName.MOONCAKE);
    assertThat(engine.at("/health")).isEqualTo(URI.create("http://10.0.0.1:8100/health"));
    assertThat(MooncakeDialect.bootstrapOf(engine)).isEqualTo(URI.create("http://10.0.0.1:9000"));
    assertThat(MooncakeDialect.bootstrapOf(EngineAddress.parse("https://[::1]:8100")))
        .isEqualTo(URI.create("http://[::1]:8998"));
  }

  @Test
  void whatIsWrongIsNamed() {
    refuses("ftp://a", "engine must be an http or https URL with a host (was ftp://a)");
    refuses("http:///v1", "engine must be an http or https URL with a host");
    refuses("http://a#port=1", "setting of an engine must be one of [bootstrap-host, bootstrap-port,");
    refuses("http://a#prompt-list=all", "prompt-list must be split or batch (was all)");
    refuses("http://a#kv-port=0", "kv-port must be a number from 1 to 65535 (was 0)");
    refuses("http://a#kv-port=x", "kv-port must be a number from 1 to 65535 (was x)");
    refuses("http://a#dialect=tcp",
        "dialect must be one of single, nixl-pull, mooncake, nixl-push, layerwise, sglang (was tcp)");
    refuses("http://a#dialect", "setting of engine http://a must be NAME=VALUE (was dialect)");
    refuses("http://a#tp-size=1&tp-size=2", "settings of engine http://a must name each setting once (was tp-size)");
  }

  private static void refuses(String text, String message) {
    assertThatIllegalArgumentException().isThrownBy(() -> EngineAddress.parse(text)).withMessageContaining(message);
  }
}
