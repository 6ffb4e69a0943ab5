package io.penstock.storage.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ForwardingEngineTest {
  /// A default that is not passed on is an engine that can do less than the one below it, without a word.
  @Test
  void everyMethodOfThePort_isPassedOn_alsoThoseWithADefault() {
    List<Method> port = Arrays.stream(SegmentEngine.class.getDeclaredMethods())
        .filter(each -> !Modifier.isStatic(each.getModifiers())).toList();
    assertThat(port).hasSizeGreaterThan(10).allSatisfy(
        each -> assertThat(ForwardingEngine.class.getDeclaredMethod(each.getName(), each.getParameterTypes()))
            .isNotNull());
  }
}
