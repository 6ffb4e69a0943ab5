package io.penstock.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.gateway.api.ApiException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class RequestPathTest {
  @ParameterizedTest
  @CsvSource({"/v1/models/a+b?x=/,a+b", "/v1/models/a%20b,a b", "/v1/models/org%2Fm,org/m", "/v1/models/org/m,org/m",
    "/v1/models/,''", "/v1/models?after=a,''"})
  void whatStandsBehindAPrefix_isDecodedAsAPath(String uri, String name) {
    assertThat(RequestPath.behind("/v1/models", RequestPath.of(uri))).isEqualTo(name);
  }

  @Test
  void wrongEncoding_isTheClientsMistake() {
    assertThatThrownBy(() -> RequestPath.behind("/v1/models", "/v1/models/%zz"))
        .isInstanceOfSatisfying(ApiException.class, refusal -> assertThat(refusal.status()).isEqualTo(400))
        .hasMessage("path must be in the encoding of URLs (was \"/v1/models/%zz\")");
  }
}
