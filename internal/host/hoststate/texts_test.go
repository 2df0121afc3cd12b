package hoststate_test

import _ "linerate/internal/host/hoststate/texts" // the readers of texts
