/// What AscendCL answers, and the errors for it. Start with [AscendFailure].
package io.penstock.device.ascend.failure;
