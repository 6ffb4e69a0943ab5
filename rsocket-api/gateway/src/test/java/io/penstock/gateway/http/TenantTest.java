package io.penstock.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.penstock.gateway.api.ApiException;
import io.penstock.gateway.api.TokenCounts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What a tenant may use, quota by quota, at times that the test names.
final class TenantTest {
  private static final long SECOND = Duration.ofSeconds(1).toNanos();
  private final Tenant tenant = new Tenant("t");

  private void refused(Quota quota, long now, String why, long retrySeconds) {
    assertThatThrownBy(() -> tenant.begin(quota, now)).isInstanceOfSatisfying(ApiException.class, refusal -> {
      assertThat(refusal.status()).isEqualTo(429);
      assertThat(refusal).hasMessageStartingWith(why);
      assertThat(refusal.retryAfter()).isEqualTo(Duration.ofSeconds(retrySeconds));
    });
  }

  private static Quota quota(long requests, long tokens, int parallel) {
    return new Quota(requests, tokens, parallel, 4);
  }

  /// Engines of messages name the tokens of the prompt at the beginning, and those of the answer at its end.
  @ParameterizedTest
  @CsvSource({"100,1,900,false,1000", "100,1000,900,false,1100", "100,890,900,true,990", "0,0,0,false,0",
    "0,0,10,false,60"})
  void answerThatDidNotEnd_isChargedByItsEvents(int prompt, int completion, int events, boolean isWhole, long used) {
    assertThat(Exchange.used(new TokenCounts(prompt, -1, completion, 0), events, 200, isWhole)).isEqualTo(used);
  }

  @Test
  void requestsOfAMinute_flowBackEvenly() {
    Quota quota = quota(2, Long.MAX_VALUE, 9);
    tenant.begin(quota, 0);
    tenant.begin(quota, 0);
    refused(quota, 0, "requests of tenant t a minute must be at most 2", 30);
    refused(quota, 29 * SECOND, "requests of tenant t a minute", 1);
    tenant.begin(quota, 31 * SECOND);
    refused(quota, 31 * SECOND, "requests of tenant t a minute", 29);
    tenant.begin(quota, 1000 * SECOND);
    tenant.begin(quota, 1000 * SECOND);
    refused(quota, 1000 * SECOND, "requests", 30); // a long pause saves up one minute's
  }

  @Test
  void tokensAreChargedAtTheEnd_andWhatIsOwedIsWaitedFor() {
    Quota quota = quota(100, 600, 9);
    tenant.begin(quota, 0);
    tenant.end(1200);
    refused(quota, 0, "tokens of tenant t a minute must be at most 600", 61);
    refused(quota, 59 * SECOND, "tokens", 2);
    tenant.begin(quota, 61 * SECOND);
    tenant.end(1);
  }

  @Test
  void requestsAtATime_areCounted_andARefusalCostsNone() {
    Quota quota = quota(3, Long.MAX_VALUE, 2);
    tenant.begin(quota, 0);
    tenant.begin(quota, 0);
    refused(quota, 0, "requests of tenant t at a time must be at most 2", 1);
    refused(quota, 0, "requests of tenant t at a time", 1);
    tenant.end(0);
    tenant.begin(quota, 0);
  }

  @ParameterizedTest
  @CsvSource({"2,,2", "2,7,2", "2,1,1", "7,7,7", "5,0,0"})
  void aRequestLowersThePriorityOfItsTenant_andDoesNotRaiseIt(int allowed, @Nullable String asked, int expected) {
    HttpHeaders headers = new DefaultHttpHeaders();
    if (asked != null) {
      headers.set("X-Priority", asked);
    }
    assertThat(Exchange.priority(headers, new Quota(1, 1, 1, allowed))).isEqualTo(expected);
    headers.set("X-Priority", "8");
    assertThatThrownBy(() -> Exchange.priority(headers, Quota.UNLIMITED)).isInstanceOf(ApiException.class)
        .hasMessage("X-Priority must be from 0 to 7 (was \"8\")");
  }

  @Test
  void aFileNamesTenants_andAllOthers(@TempDir Path folder) throws Exception {
    Path file = Files.writeString(folder.resolve("quotas"),
        "# ours\n\na requests=5 tokens=6 parallel=7 priority=1\n* parallel=2\n");
    QuotaFile quotas = QuotaFile.read(file);
    assertThat(quotas.of("a")).isEqualTo(new Quota(5, 6, 7, 1));
    assertThat(quotas.of("b")).isEqualTo(new Quota(Long.MAX_VALUE, Long.MAX_VALUE, 2, Quota.MIDDLE));
    Files.writeString(file, "a requests=0\n");
    assertThatThrownBy(() -> QuotaFile.read(file)).hasMessageContaining("requests must be ")
        .hasMessageEndingWith("in " + file + ":1");
    Files.writeString(file, "a speed=3\n");
    assertThatThrownBy(() -> QuotaFile.read(file)).hasMessageContaining("(was speed=3 in " + file + ":1)");
  }

  @Test
  void aTracesContextIsPassedOn_ifItIsOne() {
    String parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    HttpHeaders headers = new DefaultHttpHeaders().add("tracestate", "a=1").add("tracestate", "b=2");
    assertThat(Exchange.passed(headers)).as("a state without a parent").isEmpty();
    headers.set("traceparent", parent);
    assertThat(Exchange.passed(headers)).containsEntry("traceparent", parent).containsEntry("tracestate", "a=1,b=2")
        .hasSize(2);
    headers.set("traceparent", parent + "0");
    assertThat(Exchange.passed(headers)).isEmpty();
  }
}
