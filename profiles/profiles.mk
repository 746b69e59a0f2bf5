# SPDX-License-Identifier: GPL-2.0-or-later
# The claims of the mailing lists: kernels that are built, and profiles that take minutes; so not in `make check`.
.PHONY: check-claims claims-kernels
claims-kernels: ## build the kernels of the mailing lists' claims, into build-claims (needs linux-source-6.1; some 6 minutes)
	@B=$(B) lab/claims.sh build
check-claims: deps ## run the profiles of the claims on them, and a bisection (half an hour)
	@+$(build_more) programs
	@B=$(B) lab/claims.sh build
	@B=$(B) lab/claims.sh run
